import { systemClock } from '../../clock.ts';
import type { Uuid } from '../../uuid.ts';
import { createResponseCache, type CacheEntry } from '../cache.ts';
import { authenticate, type Endpoint, type PartnerToken } from '../endpoints.ts';
import { OperationAborted } from '../errors.ts';
import type { PartnerConnection, PartnerOptions } from '../partner.ts';
import { createUsage, type Usage } from '../usage.ts';
import { Breaker } from './breaker.ts';
import { Call } from './call.ts';
import { createLimiter } from './limiter.ts';
import { createRetryBudget } from './retry.ts';
import { createTokens } from './token.ts';
import { openPool } from './transport.ts';

/** A request. GETs with the same key share a call and a cached answer. */
export interface Target<T = unknown> {
  readonly endpoint: Endpoint<T>;
  /** The id in the path. */
  readonly id?: Uuid | undefined;
  /** The path and its query. */
  readonly key: string;
  /** The path without its query, by which answers are invalidated. */
  readonly path: string;
  readonly page?: number;
  /** The list with its filter, without the page. */
  readonly listKey?: string;
  /** Skips cached answers and calls in flight that began then or earlier. */
  readonly since?: number;
  readonly body?: string;
}

const CACHE_BYTES = 64 * 1024 * 1024;

export type Client = ReturnType<typeof createClient>;

/** The HTTP client of the Partner API, its cache and the calls in flight. Shared by all operations. */
export function createClient(connection: PartnerConnection, options: PartnerOptions) {
  const { apiKey, baseUrl, clientId, clientSecret } = connection;
  const { clock = systemClock, observer = {}, random = Math.random } = options;
  const { maxConcurrency = 64, timeoutMs = 5000, ratePerSecond, dailyQuota } = options;
  const url = new URL(baseUrl);
  const cache = createResponseCache(clock, options.cacheBytes ?? CACHE_BYTES);
  const budget = createRetryBudget(clock);
  const breakers = new Map<string, Breaker>();
  const inFlight = new Map<string, Call>();

  /** Prevents other reads from joining the call, and its answer from being cached. False if it was detached already. */
  function detach(call: Call): boolean {
    return inFlight.get(call.target.key) === call && inFlight.delete(call.target.key);
  }

  function start(call: Call, usage: Usage): Promise<CacheEntry> {
    const answer = call.join(usage);
    budget.deposit();
    call.start();
    return answer;
  }

  const requestToken = async (): Promise<PartnerToken> => {
    const { template: path } = authenticate;
    const body = JSON.stringify({ clientId, clientSecret });
    const target = { endpoint: authenticate, key: path, path, body };
    return (await client.send(target, createUsage({ priority: 'token' }))) as PartnerToken;
  };

  const client = {
    cache,
    clock,
    observer,
    random,
    budget,
    detach,
    apiKey,
    pathPrefix: url.pathname,
    timeoutMs,
    limiter: createLimiter(clock, maxConcurrency, ratePerSecond, dailyQuota),
    tokens: createTokens(requestToken, clock),
    pool: openPool(url, maxConcurrency, timeoutMs),

    /** Joins a call in flight for the same key, or makes one. The caller has checked the cache already. */
    get(target: Target, usage: Usage): Promise<CacheEntry> {
      if (usage.isOver) return Promise.reject(new OperationAborted(target.endpoint.template));
      const underway = inFlight.get(target.key);
      if (underway && underway.beganAt > (target.since ?? 0)) {
        usage.coalesced += 1;
        return underway.join(usage);
      }
      const call = new Call(client, target, usage);
      inFlight.set(target.key, call);
      return start(call, usage);
    },

    /** A write, or the request for a token. */
    async send(target: Target, usage: Usage): Promise<unknown> {
      if (usage.isOver) throw new OperationAborted(target.endpoint.template);
      return (await start(new Call(client, target, usage), usage)).value;
    },

    /**
     * Drops what is cached under the path. Calls in flight go on for their callers; later reads make a new call, and
     * the old answers are not cached. A template stands for all calls of its route.
     */
    invalidate(path: string): void {
      const paths = cache.invalidate(path);
      for (const [key, { target }] of inFlight)
        if (paths.includes(target.path) || path === target.endpoint.template) inFlight.delete(key);
    },

    invalidateAll(): void {
      inFlight.clear();
      cache.invalidateAll();
    },

    breakerOf(template: string): Breaker {
      const known = breakers.get(template);
      if (known) return known;
      const breaker = new Breaker(clock, (state) => observer.breakerChanged?.(state, template));
      breakers.set(template, breaker);
      return breaker;
    },
  };
  return client;
}
