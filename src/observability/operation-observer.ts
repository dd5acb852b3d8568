import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

interface Finished {
  readonly id: string;
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly name: string | undefined;
  readonly durationMs: number;
  readonly usage: {
    readonly calls: number;
    readonly cached: number;
    readonly coalesced: number;
    readonly retried: number;
  };
  readonly codes: readonly string[];
}

/** One line and a handful of numbers for each operation; never a value of it. */
export function createOperationObserver(log: Log, metrics: Metrics) {
  function counted({ name, durationMs, usage }: Finished, outcome: string): void {
    const { cached, coalesced, retried } = usage;
    metrics.operation(name, outcome, durationMs);
    if (cached > 0) metrics.cacheHit(cached);
    if (coalesced > 0) metrics.coalesced(coalesced);
    if (retried > 0) metrics.retried(retried);
  }

  return {
    finished(finished: Finished): void {
      const outcome = finished.codes[0] ?? 'ok';
      const { calls, cached } = finished.usage;
      log.operation({ ...finished, calls, cached, outcome });
      counted(finished, outcome);
    },
    /** For one that is answered again and again with what was remembered of it. */
    repeated(finished: Finished): () => void {
      const { calls, cached } = finished.usage;
      const write = log.repeated.operation({ ...finished, calls, cached, outcome: 'ok' });
      return () => {
        write();
        counted(finished, 'ok');
      };
    },
    refused({
      errors,
    }: {
      readonly errors: readonly { readonly extensions: { readonly code: string } }[];
    }): void {
      metrics.operation(undefined, errors[0]?.extensions.code ?? 'refused', 0);
    },
  };
}
