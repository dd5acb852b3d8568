/** What the service does by and by. Nothing here keeps a process alive. */
export interface Schedule {
  readonly after: (delayMs: number, work: () => void) => void;
  /** Does at once, in order, whatever is due later, and what follows from it. */
  readonly settle: () => void;
  /** Does what is due next, now. */
  readonly step: () => void;
  readonly close: () => void;
}

interface Waiting {
  readonly dueAt: number;
  readonly work: () => void;
  readonly timer: NodeJS.Timeout;
}

/** A chain of steps ends by itself; this stops one that does not. */
const MOST_STEPS = 100_000;

export function createSchedule(): Schedule {
  const waiting = new Set<Waiting>();
  let isClosed = false;

  function take(entry: Waiting) {
    clearTimeout(entry.timer);
    waiting.delete(entry);
    entry.work();
  }

  function step(): boolean {
    const next = earliest(waiting);
    if (next) take(next);
    return next !== undefined;
  }

  return {
    step,
    after(delayMs, work) {
      if (isClosed) return;
      const entry: Waiting = {
        dueAt: performance.now() + delayMs,
        work,
        timer: setTimeout(() => take(entry), delayMs).unref(),
      };
      waiting.add(entry);
    },
    settle() {
      let steps = 0;
      while (steps < MOST_STEPS && step()) steps += 1;
    },
    close() {
      isClosed = true;
      for (const { timer } of waiting) clearTimeout(timer);
      waiting.clear();
    },
  };
}

function earliest(waiting: Iterable<Waiting>): Waiting | undefined {
  let first: Waiting | undefined;
  for (const entry of waiting) if (!first || entry.dueAt < first.dueAt) first = entry;
  return first;
}
