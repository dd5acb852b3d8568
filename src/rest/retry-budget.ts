import type { Clock } from './clock.ts';

/** Retries that every caller may make, together: in an outage each call must not become three. */
export interface RetryBudget {
  /** A call was made for the first time. */
  deposit(): void;
  /** May one be repeated? */
  withdraw(): boolean;
}

const SHARE = 0.1;
/** In quiet times a tenth of nothing would forbid the one retry that helps. */
const FLOOR = 10;
const FLOOR_REFILL_MS = 2000;
/** Good times must not save up for a storm. */
const MAX_SAVED = 20;

export function createRetryBudget(clock: Clock): RetryBudget {
  let saved = FLOOR;
  let refilledAt = clock.now();

  return {
    deposit() {
      saved = Math.min(MAX_SAVED, saved + SHARE);
    },
    withdraw() {
      const elapsed = clock.now() - refilledAt;
      refilledAt += elapsed;
      if (saved < FLOOR) saved = Math.min(FLOOR, saved + elapsed / FLOOR_REFILL_MS);
      if (saved < 1) return false;
      saved -= 1;
      return true;
    },
  };
}
