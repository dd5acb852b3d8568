export type Clock = typeof systemClock;

/** Time, passed in so that tests can control it. */
export const systemClock = {
  /** Monotonic milliseconds: lifetimes must survive a wall clock that jumps. */
  now: (): number => performance.now(),
  /** The wall clock, in milliseconds since 1970: for HTTP dates and calendar days only. */
  wallNow: (): number => Date.now(),
  /** Runs `run` once, `ms` from now. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Wall-clock time for expiry times and ages, which does not jump when the clock is set by hand or by NTP. */
export const steadyNow = (): number => Math.round(performance.timeOrigin + performance.now());
