import { setImmediate } from 'node:timers/promises';

import DataLoader from 'dataloader';

import { StoreUnavailable } from './errors.ts';

/** Limits memory while a disk or a server stalls. */
const MAX_WAITING = 50_000;

/** Group commit: calls that arrive while a batch runs share the next one. */
export function createBatches<Call, Answer>(
  run: (calls: readonly Call[]) => Promise<readonly (Answer | Error)[]>,
  maxBatchSize: number,
) {
  let waiting = 0;
  let running: Promise<unknown> = Promise.resolve();
  let last: Promise<unknown> = running;

  const runBatch = (calls: readonly Call[]) => {
    const answers = run(calls);
    running = answers.catch(() => undefined);
    return answers;
  };
  const loader = new DataLoader<Call, Answer>(runBatch, {
    cache: false,
    maxBatchSize,
    batchScheduleFn(dispatch) {
      // Starts after this turn of the event loop, so that all calls of the turn share the batch.
      last = Promise.all([last, setImmediate()]).then(() => {
        dispatch();
        return running;
      });
    },
  });

  return {
    async call(call: Call): Promise<Answer> {
      if (waiting >= MAX_WAITING) throw new StoreUnavailable('the event store is overloaded');
      waiting += 1;
      try {
        return await loader.load(call);
      } finally {
        waiting -= 1;
      }
    },
    /** Resolves when all calls are done. */
    async drained(): Promise<void> {
      while (waiting > 0) await last.then(() => setImmediate());
    },
  };
}
