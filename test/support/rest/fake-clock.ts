import type { Clock } from '../../../src/clock.ts';

export interface FakeClock extends Clock {
  /** Runs the timers that fall due, in order. */
  advance(ms: number): void;
  /** Moves only the wall clock. */
  jump(ms: number): void;
}

export function createFakeClock(): FakeClock {
  let now = 1000;
  let wall = Date.UTC(2030, 0, 1, 12);
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();

  return {
    now: () => now,
    wallNow: () => wall,
    after(ms, run) {
      if (ms < 0) throw new RangeError('Node warns of a negative delay');
      const timer = { at: now + ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const due = [...timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
        if (!due) break;
        timers.delete(due);
        wall += due.at - now;
        now = due.at;
        due.run();
      }
      wall += end - now;
      now = end;
    },
    jump(ms) {
      wall += ms;
    },
  };
}
