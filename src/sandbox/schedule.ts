/** What the service does by and by. Nothing here keeps a process alive. */
export interface Schedule {
  readonly after: (delayMs: number, step: () => void) => void;
  /** Does at once, in order, whatever is due later, and what follows from it. */
  readonly settle: () => void;
  readonly close: () => void;
}

interface Waiting {
  readonly dueAt: number;
  readonly step: () => void;
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
    entry.step();
  }

  return {
    after(delayMs, step) {
      if (isClosed) return;
      const entry: Waiting = {
        dueAt: performance.now() + delayMs,
        step,
        timer: setTimeout(() => take(entry), delayMs).unref(),
      };
      waiting.add(entry);
    },
    settle() {
      for (let steps = 0; steps < MOST_STEPS; steps++) {
        const next = earliest(waiting);
        if (!next) return;
        take(next);
      }
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
