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
  return {
    finished({ id, kind, name, durationMs, usage, codes }: Finished): void {
      const outcome = codes[0] ?? 'ok';
      const { calls, cached, coalesced, retried } = usage;
      log.operation({
        id,
        name,
        kind,
        durationMs,
        calls,
        cached,
        outcome,
      });
      metrics.operation(name, outcome, durationMs);
      if (cached > 0) metrics.cacheHit(cached);
      if (coalesced > 0) metrics.coalesced(coalesced);
      if (retried > 0) metrics.retried(retried);
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
