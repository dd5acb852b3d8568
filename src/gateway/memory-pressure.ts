import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

const CHECK_EVERY_MS = 250;

/** Whether memory is short. Queries and sockets are then rejected. A webhook takes little, and is always accepted. */
export function createMemoryPressure(onHigh: () => void): () => boolean {
  // Past 90 % of the old generation's capacity, garbage collection takes most of the time.
  const maxBytes = 0.9 * oldGenerationBytes(getHeapStatistics().heap_size_limit, process.execArgv);
  let isHigh = false;
  let checkedAt = Number.NEGATIVE_INFINITY;

  return () => {
    const now = performance.now();
    if (now - checkedAt < CHECK_EVERY_MS) return isHigh;
    checkedAt = now;
    const old = getHeapSpaceStatistics().filter(({ space_name: name }) => !name.startsWith('new_'));
    isHigh = old.reduce((sum, space) => sum + space.space_used_size, 0) > maxBytes;
    if (isHigh) onHigh();
    return isHigh;
  };
}

/** What V8 reserves for old objects. Its limit includes three semi-spaces for young ones, by default of 64 MB each. */
export function oldGenerationBytes(heapLimit: number, nodeFlags: readonly string[]): number {
  // If the flag is repeated, V8 takes the last one.
  const flag = /.*--max-semi-space-size=(\d+)/.exec(nodeFlags.join(' '));
  return heapLimit - 3 * Number(flag?.[1] ?? 64) * 2 ** 20;
}
