import { StoreUnavailable } from './errors.ts';

/** Runs `task` now and then, never twice at once, without keeping the process alive. */
export function inBackground(
  everyMs: number,
  task: () => Promise<unknown>,
  onProblem: (message: string) => void,
): Disposable {
  let running = false;
  async function run() {
    if (running) return;
    running = true;
    try {
      await task();
    } catch (error) {
      // A store that is down is noticed by whoever needs it; tidying can wait.
      if (!(error instanceof StoreUnavailable)) {
        onProblem(
          `tidying the store failed: ${error instanceof Error ? error.name : typeof error}`,
        );
      }
    } finally {
      running = false;
    }
  }
  const timer = setInterval(() => void run(), everyMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
