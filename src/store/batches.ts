import { setImmediate } from 'node:timers/promises';

import DataLoader from 'dataloader';

import { StoreUnavailable } from './errors.ts';

/** A disk or a server that stalls must not turn into memory that grows. */
const MAX_WAITING = 50_000;

/** Group commit: calls that come while a batch is under way wait for the next one. The busier, the larger the groups. */
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
      // After this turn of the event loop: whatever else arrives in it shares the batch.
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
    /** Resolves when all that was asked for is done. */
    async drained(): Promise<void> {
      while (waiting > 0) await last.then(() => setImmediate());
    },
  };
}
