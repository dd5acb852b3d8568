/** Time, passed in so that tests can turn it. */
export interface Clock {
  /** Milliseconds that only ever go forward: lifetimes must survive a wall clock that jumps. */
  now(): number;
  /** The wall clock, in milliseconds since 1970: for HTTP dates and calendar days only. */
  wallNow(): number;
  /** Runs `run` once, `ms` from now; the answer calls it off. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}
