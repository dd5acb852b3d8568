import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

/** Past this share of the old generation's capacity, garbage collection takes most of the time. */
const HIGH = 0.9;
/** The part of V8's limit that is reserved for young objects. */
const YOUNG_BYTES = 192 * 2 ** 20;
const LOOK_EVERY_MS = 250;

/**
 * Whether memory is short. Queries and new sockets can be retried later or elsewhere; a webhook takes little memory and
 * is always accepted.
 */
export function createMemoryPressure(): () => boolean {
  const capacity = getHeapStatistics().heap_size_limit - YOUNG_BYTES;
  let isHigh = false;
  let lookedAt = Number.NEGATIVE_INFINITY;

  return () => {
    const now = performance.now();
    if (now - lookedAt < LOOK_EVERY_MS) return isHigh;
    lookedAt = now;
    const old = getHeapSpaceStatistics().filter(({ space_name: name }) => !name.startsWith('new_'));
    isHigh = old.reduce((sum, space) => sum + space.space_used_size, 0) > capacity * HIGH;
    return isHigh;
  };
}
