/** A sender's retries end long before this, so a key that is older can't come back as a copy. */
const SHORTEST_WINDOW_MS = 7 * 24 * 3_600_000;

/** A key outlives its event, or a late copy would be appended next to the original. */
export const dedupeWindowMs = (retentionMs: number) => Math.max(retentionMs, SHORTEST_WINDOW_MS);

export const STAMPS_KEPT = 100;
const STAMP_MAX_LENGTH = 64;

/** Stamps are kept one a line under their key, so a stamp holds no line break and no more than a date needs. */
export const stampOf = (occurredAt: string) =>
  occurredAt.slice(0, STAMP_MAX_LENGTH).replace(/\s/g, ' ');
