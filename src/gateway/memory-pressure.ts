import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

/** Past this share of the room for what stays, collections take most of the time and the end is near. */
const HIGH = 0.9;
/** What V8's limit counts in for young objects, which old ones can't have. */
const YOUNG_BYTES = 192 * 2 ** 20;
const LOOK_EVERY_MS = 250;

/**
 * Tells whether memory is short. Queries and new sockets can come back later, or elsewhere; a webhook takes next to
 * nothing and tells of something that has happened, so it is always accepted.
 */
export function createMemoryPressure(): () => boolean {
  const room = getHeapStatistics().heap_size_limit - YOUNG_BYTES;
  let isHigh = false;
  let lookedAt = Number.NEGATIVE_INFINITY;

  return () => {
    const now = performance.now();
    if (now - lookedAt < LOOK_EVERY_MS) return isHigh;
    lookedAt = now;
    const old = getHeapSpaceStatistics().filter(({ space_name: name }) => !name.startsWith('new_'));
    isHigh = old.reduce((sum, space) => sum + space.space_used_size, 0) > room * HIGH;
    return isHigh;
  };
}
