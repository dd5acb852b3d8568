import { syncBuiltinESMExports } from 'node:module';
import timers, { setImmediate } from 'node:timers/promises';

import { onTestFinished, vi } from 'vitest';

/** Pauses end at once, until the test is over. Returns a function for their sum. */
export function skipPauses(): () => number {
  const pauses: number[] = [];
  vi.spyOn(timers, 'setTimeout').mockImplementation(async (ms = 0) => {
    pauses.push(ms);
    return setImmediate();
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  return () => pauses.reduce((sum, ms) => sum + ms, 0);
}
