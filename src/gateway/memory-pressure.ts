import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';

const LOOK_EVERY_MS = 250;

/** Whether memory is short. Queries and sockets are then rejected. A webhook takes little, and is always accepted. */
export function createMemoryPressure(onHigh: () => void): () => boolean {
  // Past 90 % of the old generation's capacity, garbage collection takes most of the time.
  const most = 0.9 * oldGenerationBytes(getHeapStatistics().heap_size_limit, process.execArgv);
  let isHigh = false;
  let lookedAt = Number.NEGATIVE_INFINITY;

  return () => {
    const now = performance.now();
    if (now - lookedAt < LOOK_EVERY_MS) return isHigh;
    lookedAt = now;
    const old = getHeapSpaceStatistics().filter(({ space_name: name }) => !name.startsWith('new_'));
    isHigh = old.reduce((sum, space) => sum + space.space_used_size, 0) > most;
    if (isHigh) onHigh();
    return isHigh;
  };
}

/** What V8 reserves for old objects. Its limit includes three semi-spaces for young ones, by default of 64 MB each. */
export function oldGenerationBytes(heapLimit: number, nodeFlags: readonly string[]): number {
  // Of several, V8 takes the last one.
  const flag = /.*--max-semi-space-size=(\d+)/.exec(nodeFlags.join(' '));
  return heapLimit - 3 * Number(flag?.[1] ?? 64) * 2 ** 20;
}
