type Task = Readonly<{ dueAt: number; work: () => void; timer: NodeJS.Timeout }>;

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
    /** Runs all tasks now, in order, including tasks that they schedule. */
    settle() {
      while (step()) continue;
    },
    close() {
      isClosed = true;
      for (const { timer } of tasks) clearTimeout(timer);
      tasks.clear();
    },
  };
}
