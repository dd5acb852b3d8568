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

/** Wall time that does not jump, by this clock. */
export function steadily({ now, wallNow }: Pick<Clock, 'now' | 'wallNow'>): () => number {
  const began = wallNow() - now();
  return () => Math.round(began + now());
}
