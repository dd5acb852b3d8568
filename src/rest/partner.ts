import type { LookupFunction } from 'node:net';
import type { BreakerState } from './client/breaker.ts';
import { createClient } from './client/client.ts';
import type { Outcome } from './client/transport.ts';
import type { Clock } from '../clock.ts';
import { Loaders } from './loaders.ts';
import { createUsage } from './usage.ts';
import type { Usage } from './usage.ts';
import { createWrites } from './writes.ts';

export interface PartnerConnection {
  /** Ends in `/v2`. */
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly apiKey: string;
}

export interface PartnerOptions {
  /** Calls in flight. */
  readonly maxConcurrency: number;
  /** An attempt that may be repeated. */
  readonly timeoutMs: number;
  readonly ratePerSecond: number | undefined;
  readonly dailyQuota: number | undefined;
  /** Of JSON, for cached answers. */
  readonly cacheBytes: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observer: PartnerObserver;
  /** In place of the system's DNS. */
  readonly lookup: LookupFunction;
}

/** For metrics and logs. Templates, counts and codes only. */
export interface PartnerObserver {
  /** One HTTP attempt ended. */
  attempt?(attempt: ObservedAttempt): void;
  /** Rows of a list had no usable id. */
  unreadableRows?(route: string, count: number, requestId?: string): void;
  /** An answer named another record than the one asked for, and was dropped. */
  otherRecord?(route: string, requestId?: string): void;
  breakerChanged?(state: BreakerState, route: string): void;
  tokenRenewed?(): void;
  /** A background renewal failed; the present token goes on being used. */
  tokenRenewalFailed?(code: string): void;
}

export interface ObservedAttempt {
  readonly method: string;
  readonly route: string;
  /** Undefined if there was no answer. */
  readonly status: number | undefined;
  /** `status` for a 4xx or 5xx. */
  readonly outcome: 'ok' | 'status' | Outcome;
  readonly durationMs: number;
  /** Those of the operation that it belongs to: name, value, name, value. */
  readonly traceHeaders: readonly string[];
}

/** After the API key was refused, how often a readiness check may ask whether it still is. */
const CHECK_PAUSE_MS = 5000;

export type Partner = ReturnType<typeof createPartner>;

/** The Partner API, as the rest of the gateway uses it. */
export function createPartner(
  connection: PartnerConnection,
  options: Partial<PartnerOptions> = {},
) {
  const client = createClient(connection, options);
  const { breakers, cache, clock, limiter, pool, tokens } = client;
  return {
    /** For one operation, or one delivered event: what they read is counted into `usage`. */
    loadersFor: (usage: Usage): Loaders => new Loaders(client, usage),
    writes: createWrites(client),
    /** Drops what is cached under these paths, all pages and filters of a list. Reads in flight are not cached either. */
    forget(paths: readonly string[]): void {
      for (const path of paths) client.invalidate(path);
    },
    /** For when an invalidation may have been missed. */
    forgetAll: client.invalidateAll,
    isCurrent: cache.isCurrent,
    onInvalidate: cache.onInvalidate,
    /** Resolves if a token is obtainable and the API key is accepted; rejects with the `PartnerError` that says why. */
    async check(): Promise<void> {
      await tokens.obtain();
      const refused = tokens.keyRefused();
      if (!refused) return;
      if (clock.now() - refused.at < CHECK_PAUSE_MS) throw refused.error;
      await new Loaders(client, createUsage()).partner({ fresh: true });
    },
    state() {
      const ageMs = tokens.ageMs();
      const states = new Set(Array.from(breakers.values(), ({ state }) => state));
      const worst = (['open', 'half-open'] as const).find((state) => states.has(state));
      return {
        ...limiter.state(),
        ...cache.state(),
        tokenAgeSeconds: ageMs === undefined ? undefined : ageMs / 1000,
        /** Of all routes: `closed` if all are. */
        breaker: worst ?? 'closed',
      };
    },
    async [Symbol.asyncDispose](): Promise<void> {
      tokens.close();
      await pool.close();
    },
  };
}
