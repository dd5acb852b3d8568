type Task = Readonly<{ dueAt: number; work: () => void; timer: NodeJS.Timeout }>;

/** Stops a chain of tasks that does not end by itself. */
const MAX_STEPS = 100_000;

export type Schedule = ReturnType<typeof createSchedule>;

/** Timers that tests can run early. They do not keep the process alive. */
export function createSchedule() {
  const tasks = new Set<Task>();
  let isClosed = false;

  function run(task: Task) {
    clearTimeout(task.timer);
    tasks.delete(task);
    task.work();
  }

  /** Runs the task that is due next, now. */
  function step(): boolean {
    let next: Task | undefined;
    for (const task of tasks) if (!next || task.dueAt < next.dueAt) next = task;
    if (next) run(next);
    return next !== undefined;
  }

  return {
    step,
    after(delayMs: number, work: () => void) {
      if (isClosed) return;
      const task: Task = {
        dueAt: performance.now() + delayMs,
        work,
        timer: setTimeout(() => run(task), delayMs).unref(),
      };
      tasks.add(task);
    },
    /** Runs all tasks now, in order, and those that they schedule. */
    settle() {
      let steps = 0;
      while (steps < MAX_STEPS && step()) steps += 1;
    },
    close() {
      isClosed = true;
      for (const { timer } of tasks) clearTimeout(timer);
      tasks.clear();
    },
  };
}
