import type { Clock } from './clock.ts';

/** The partner's own limits, where they are known: calls a second, and calls a day. */
export interface Allowance {
  /** 0 if a call may go out now, and has been counted; else the milliseconds until one may. */
  msUntilNext(): number;
  /** Counts the call against the day; the seconds until tomorrow if the day's share is used up. */
  spend(): { readonly exhaustedForSeconds: number } | undefined;
  readonly usedToday: number;
}

const DAY_MS = 24 * 3600_000;

export function createAllowance(
  clock: Clock,
  ratePerSecond: number | undefined,
  dailyQuota: number | undefined,
): Allowance {
  // A whole second's worth at once would double the rate in the first second.
  const capacity = ratePerSecond === undefined ? 0 : Math.max(1, ratePerSecond / 10);
  let tokens = capacity;
  let refilledAt = clock.now();
  let day = 0;
  let used = 0;

  const turnDay = (): void => {
    const today = Math.floor(clock.wallNow() / DAY_MS);
    if (today === day) return;
    day = today;
    used = 0;
  };

  return {
    msUntilNext() {
      if (ratePerSecond === undefined) return 0;
      const now = clock.now();
      tokens = Math.min(capacity, tokens + ((now - refilledAt) / 1000) * ratePerSecond);
      refilledAt = now;
      if (tokens < 1) return Math.ceil(((1 - tokens) / ratePerSecond) * 1000);
      tokens -= 1;
      return 0;
    },
    spend() {
      turnDay();
      if (dailyQuota !== undefined && used >= dailyQuota) {
        const leftMs = (day + 1) * DAY_MS - clock.wallNow();
        return { exhaustedForSeconds: Math.ceil(leftMs / 1000) };
      }
      used += 1;
      return undefined;
    },
    get usedToday() {
      turnDay();
      return used;
    },
  };
}
