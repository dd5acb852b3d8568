import { StoreUnavailable } from '../errors.ts';

/** Runs `task` at intervals, never twice at once, without keeping the process alive. */
export function inBackground(everyMs: number, task: () => Promise<unknown>): Disposable {
  let running = false;
  async function run() {
    if (running) return;
    running = true;
    try {
      await task();
    } catch (error) {
      // A store that is down is reported by the requests that need it. Anything else is a bug.
      if (!(error instanceof StoreUnavailable)) throw error;
    } finally {
      running = false;
    }
  }
  return setInterval(() => void run(), everyMs).unref();
}
