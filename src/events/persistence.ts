import { setTimeout as delay } from 'node:timers/promises';

const TRIES = 5;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/** Doubling, so that a store that comes back is not met by everyone at once. */
export const pauseMs = (failures: number): number =>
  Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, failures - 1));

/** Resolves early, and without complaint, when the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
}

/**
 * Tries a few times, then goes on without: one event that can't be handled must not hold up those
 * behind it. `onFailure` hears of each failed try; what is not worth another one is thrown.
 */
export async function persistently<T>(
  task: () => T | Promise<T>,
  instead: T,
  signal: AbortSignal,
  isWorth: (error: unknown) => boolean,
  onFailure: (error: unknown) => void,
): Promise<T> {
  for (let failures = 1; failures <= TRIES && !signal.aborted; failures += 1) {
    try {
      return await task();
    } catch (error) {
      if (!isWorth(error)) throw error;
      onFailure(error);
      if (failures < TRIES) await pause(pauseMs(failures), signal);
    }
  }
  return instead;
}
