import { setImmediate } from 'node:timers/promises';

import { StoreUnavailable } from '../errors.ts';

/** Group commit: calls that arrive while a batch runs share the next one. */
export function createBatches<Call, Answer>(
  run: (calls: readonly Call[]) => Promise<readonly (Answer | Error)[]>,
  maxBatchSize: number,
) {
  const waiting: { readonly call: Call; readonly answer: PromiseWithResolvers<Answer> }[] = [];
  let running: Promise<void> | undefined;

  async function runBatches(): Promise<void> {
    // Starts after this turn of the event loop, so that all calls of the turn share the batch.
    await setImmediate();
    while (waiting.length > 0) {
      const batch = waiting.splice(0, maxBatchSize);
      const calls = batch.map(({ call }) => call);
      const answers = await run(calls).catch((error: Error) => calls.map(() => error));
      batch.forEach(({ answer }, i) => {
        const result = answers[i] as Answer | Error;
        if (result instanceof Error) answer.reject(result);
        else answer.resolve(result);
      });
    }
    running = undefined;
  }

  return {
    async call(call: Call): Promise<Answer> {
      // Limits memory while a disk or a server stalls.
      if (waiting.length >= 50_000) throw new StoreUnavailable('the event store is overloaded');
      const answer = Promise.withResolvers<Answer>();
      waiting.push({ call, answer });
      running ??= runBatches();
      return answer.promise;
    },
    /** Resolves when all calls are done. */
    drained: async (): Promise<void> => running,
  };
}
