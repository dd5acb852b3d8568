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

  const requestToken = async (): Promise<PartnerToken> => {
    const { template: path } = authenticate;
    const body = JSON.stringify({ clientId, clientSecret });
    const target = { endpoint: authenticate, key: path, path, body };
    return (await client.call(target, createUsage({ priority: 'token' }))).value as PartnerToken;
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
    tokens: createTokens(requestToken, clock, observer),
    pool: openPool(url, maxConcurrency, timeoutMs),

    /** Makes a call, or joins one in flight for the same GET. The caller has checked the cache already. */
    call(target: Target, usage: Usage): Promise<CacheEntry> {
      const { endpoint, key, since = 0 } = target;
      if (usage.isOver) return Promise.reject(new OperationAborted(endpoint.template));
      const isRead = endpoint.method === 'GET';
      const underway = isRead ? inFlight.get(key) : undefined;
      if (underway && underway.beganAt > since) {
        usage.coalesced += 1;
        return underway.join(usage);
      }
      const call = new Call(client, target, usage);
      if (isRead) inFlight.set(key, call);
      budget.deposit();
      const answer = call.join(usage);
      call.start();
      return answer;
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
