import { Pool } from 'undici';
import { systemClock, type Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { createPartnerObserver } from '../observability/observers.ts';
import type { Uuid } from '../uuid.ts';
import { createResponseCache, type CacheEntry } from './cache.ts';
import { Breaker } from './client/breaker.ts';
import { Call, CALLS_USED } from './client/call.ts';
import { createLimiter, type CallQueue, type Priority } from './client/limiter.ts';
import { createRetryBudget } from './client/retry.ts';
import { createTokens } from './client/token.ts';
import { authenticate, type Endpoint } from './endpoints.ts';
import { recordEndpoints } from './records.ts';
import { OPERATION_ENDED, PartnerError } from './errors.ts';
import { Loaders } from './loaders.ts';

/** `baseUrl` ends in `/v2`. */
export type PartnerConnection = Omit<Extract<Config['partner'], { kind: 'real' }>, 'kind'>;

export interface PartnerOptions extends Partial<Config['upstream']> {
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly observer?: PartnerObserver;
}

/** For metrics and logs. Templates, counts and codes only. */
export type PartnerObserver = Partial<ReturnType<typeof createPartnerObserver>>;

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

/** How often a readiness check may try a refused API key or token again. */
const CHECK_PAUSE_MS = 5_000;

export type Partner = ReturnType<typeof createPartner>;

/** The HTTP client of the Partner API, its cache and the calls in flight. Shared by all operations. */
export function createPartner(connection: PartnerConnection, options: PartnerOptions = {}) {
  const { apiKey, baseUrl, clientId, clientSecret } = connection;
  const { clock = systemClock, observer = {}, random = Math.random } = options;
  const { maxConcurrency = 64, timeoutMs = 5_000 } = options;
  const url = new URL(baseUrl);
  const cache = createResponseCache(clock);
  const budget = createRetryBudget(clock);
  const limiter = createLimiter(clock, maxConcurrency, options);
  // HTTP/1.1: one lost HTTP/2 connection would fail all calls in flight. Each attempt has its own timer.
  const pool = new Pool(url.origin, {
    connections: maxConcurrency,
    connect: { timeout: timeoutMs },
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
  });
  const breakers = new Map<Endpoint, Breaker>();
  const inFlight = new Map<string, Call>();

  /** Makes a call, or joins one in flight for the same GET. The caller has checked the cache already. */
  function call(target: Target, usage: Usage): Promise<CacheEntry> {
    const { endpoint, key, since = 0 } = target;
    if (usage.isOver)
      return Promise.reject(new PartnerError('TIMEOUT', endpoint.template, OPERATION_ENDED));
    const isRead = endpoint.method === 'GET';
    const underway = isRead ? inFlight.get(key) : undefined;
    if (underway && underway.requestedAt > since) {
      usage.coalesced += 1;
      return underway.join(usage);
    }
    // Calls that wait count too: an operation may ask for thousands, which all fail with one error.
    if (usage.calls + usage.unsent >= usage.maxCalls) {
      usage.limitError ??= new PartnerError('QUERY_TOO_EXPENSIVE', endpoint.template, CALLS_USED);
      return Promise.reject(usage.limitError);
    }
    const started = new Call(partner, target, usage);
    if (isRead) inFlight.set(key, started);
    budget.deposit();
    const answer = started.join(usage);
    started.send();
    return answer;
  }

  /** Sends a write or the request for a token, with its body as JSON if there is one. */
  async function send<T>(endpoint: Endpoint<T>, id: Uuid | undefined, body: unknown, usage: Usage) {
    const path = endpoint.path(id);
    const target = { endpoint, key: path, path, body: JSON.stringify(body) };
    return (await call(target, usage)).value as T;
  }

  const requestToken = () =>
    send(authenticate, undefined, { clientId, clientSecret }, createUsage({ priority: 'token' }));
  const tokens = createTokens(requestToken, clock, observer);

  const partner = {
    cache,
    clock,
    observer,
    random,
    budget,
    apiKey,
    pathPrefix: url.pathname,
    timeoutMs,
    limiter,
    tokens,
    pool,
    call,
    send,

    /** Loaders for one operation or one delivered event. Their reads are counted in `usage`. */
    loadersFor: (usage: Usage): Loaders => new Loaders(partner, usage),

    /** Prevents other reads from joining the call, and its answer from being cached. False if it was detached already. */
    detach: (ended: Call): boolean =>
      inFlight.get(ended.target.key) === ended && inFlight.delete(ended.target.key),

    /** A note's GET and PATCH have the same path, and different breakers. */
    breakerOf(endpoint: Endpoint): Breaker {
      const known = breakers.get(endpoint);
      if (known) return known;
      const breaker = new Breaker(clock, (state) => observer.breakerChanged?.(state, endpoint));
      breakers.set(endpoint, breaker);
      return breaker;
    },

    /**
     * Drops what is cached under these paths, all pages and filters of a list. Calls in flight go on for their callers;
     * later reads make a new call, and the old answers are not cached. A template stands for all calls of its route.
     */
    invalidate(paths: readonly string[]): void {
      for (const path of paths) {
        const stale = cache.invalidate(path);
        if (inFlight.size === 0) continue;
        cache.rejectOlder(stale);
        for (const [key, { target }] of inFlight)
          if (stale.includes(target.path) || path === target.endpoint.template)
            inFlight.delete(key);
      }
    },

    /** For when an invalidation may have been missed. */
    invalidateAll(): void {
      inFlight.clear();
      cache.invalidateAll();
    },

    /** Resolves if a token is obtainable, and neither it nor the API key is refused; rejects with the `PartnerError` that says why. */
    async check(): Promise<void> {
      await tokens.obtain();
      const refused = tokens.refused();
      if (!refused) return;
      if (clock.now() - refused.at < CHECK_PAUSE_MS) throw refused.error;
      const loaders = partner.loadersFor(createUsage());
      await loaders.record(recordEndpoints.partner, undefined, { fresh: true });
    },

    state: () => ({ ...limiter.state(), ...cache.state(), ...tokens.state() }),

    async [Symbol.asyncDispose](): Promise<void> {
      tokens.close();
      cache.close();
      // By now requests were answered or timed out. A write that still hangs is audited with an unknown outcome.
      await pool.destroy();
    },
  };
  return partner;
}

export type Usage = ReturnType<typeof createUsage>;

/** What one operation, or one delivered event, has used of the Partner API. */
export function createUsage({
  maxCalls = Number.POSITIVE_INFINITY,
  requestId,
  priority = 'read',
}: { maxCalls?: number; requestId?: string | undefined; priority?: Priority } = {}) {
  return {
    maxCalls,
    /** For log lines. */
    requestId,
    /** Name, value, name, value. Empty if the operation is not traced. */
    traceHeaders: [] as readonly string[],
    calls: 0,
    /** Calls that it began, and that are neither sent nor ended yet. */
    unsent: 0,
    limitError: undefined as PartnerError | undefined,
    cached: 0,
    coalesced: 0,
    retried: 0,
    /** The calls it began or joined. */
    joined: [] as Call[],
    /** True once the operation has ended. */
    isOver: false,
    /** Calls that wait for a slot. */
    queue: { priority, calls: [] } as CallQueue,
    /** Ends the operation early: reads are aborted, a write that was sent is not. */
    end(): void {
      if (this.isOver) return;
      this.isOver = true;
      // The last ones first: those that wait would get the slots of those that are aborted, and be sent.
      for (const call of this.joined.toReversed()) call.abandon(this);
    },
  };
}
