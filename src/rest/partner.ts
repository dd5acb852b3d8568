import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { partnerObserver } from '../observability/observers.ts';
import type { Uuid } from '../uuid.ts';
import { createClient } from './client/client.ts';
import { endpoints, type Endpoint } from './endpoints.ts';
import { Loaders } from './loaders.ts';
import { createUsage, type Usage } from './usage.ts';

/** `baseUrl` ends in `/v2`. */
export type PartnerConnection = Omit<Extract<Config['partner'], { kind: 'real' }>, 'kind'>;

export interface PartnerOptions extends Partial<Config['upstream']> {
  /** Limit of the response cache, in bytes of JSON. */
  readonly cacheBytes?: number;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly observer?: PartnerObserver;
}

/** For metrics and logs. Templates, counts and codes only. */
export type PartnerObserver = Partial<ReturnType<typeof partnerObserver>>;

/** How often a readiness check may try a refused API key or token again. */
const CHECK_PAUSE_MS = 5000;

export type Partner = ReturnType<typeof createPartner>;

/** The Partner API, as the rest of the gateway uses it. */
export function createPartner(connection: PartnerConnection, options: PartnerOptions = {}) {
  const client = createClient(connection, options);
  const { cache, clock, limiter, pool, tokens } = client;
  return {
    /** For one operation, or one delivered event: what they read is counted into `usage`. */
    loadersFor: (usage: Usage): Loaders => new Loaders(client, usage),
    /** Sends a write, with its body as JSON if there is one. */
    async send<T>(endpoint: Endpoint<T>, id: Uuid, body: unknown, usage: Usage): Promise<T> {
      const path = endpoint.path(id);
      const target = { endpoint, key: path, path, body: JSON.stringify(body) };
      return (await client.call(target, usage)).value as T;
    },
    /** Drops what is cached under these paths, all pages and filters of a list. Reads in flight are not cached either. */
    invalidate(paths: readonly string[]): void {
      for (const path of paths) client.invalidate(path);
    },
    /** For when an invalidation may have been missed. */
    invalidateAll: client.invalidateAll,
    /** Resolves if a token is obtainable, and neither it nor the API key is refused; rejects with the `PartnerError` that says why. */
    async check(): Promise<void> {
      await tokens.obtain();
      const refused = tokens.refused();
      if (!refused) return;
      if (clock.now() - refused.at < CHECK_PAUSE_MS) throw refused.error;
      await new Loaders(client, createUsage()).record(endpoints.partner, undefined, {
        fresh: true,
      });
    },
    state: () => ({ ...limiter.state(), ...cache.state(), ...tokens.state() }),
    async [Symbol.asyncDispose](): Promise<void> {
      tokens.close();
      await pool.close();
    },
  };
}
