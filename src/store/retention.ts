/** A stamp further ahead than this came from a clock gone wrong; waiting for it would keep the log for ever. */
const CLOCK_TOLERANCE_MS = 24 * 3_600_000;

export interface Dated {
  readonly position: number;
  readonly receivedAt: number;
}

/** The position up to which the oldest events may go, or 0. Only a run from the start: the log has no holes. */
export function expiredUpTo(oldest: readonly Dated[], now: number, retentionMs: number): number {
  let upTo = 0;
  for (const { position, receivedAt } of oldest) {
    const kept = receivedAt >= now - retentionMs && receivedAt <= now + CLOCK_TOLERANCE_MS;
    if (kept) break;
    upTo = position;
  }
  return upTo;
}
