import type { LookupFunction } from 'node:net';
import { ResponseCache } from './cache.ts';
import type { CacheEntry, InvalidationListener } from './cache.ts';
import { worstOf } from './client/breaker.ts';
import type { BreakerState } from './client/breaker.ts';
import type { CallParts } from './client/call.ts';
import { Client } from './client/client.ts';
import { createLimiter } from './client/limiter.ts';
import { RetryBudget } from './client/retry.ts';
import { createTokens } from './client/token.ts';
import { isForbiddenHost, openPool } from './client/transport.ts';
import { systemClock } from './clock.ts';
import type { Clock } from './clock.ts';
import { AUTHENTICATE } from './endpoints.ts';
import type { CallKind } from './endpoints.ts';
import { Loaders } from './loaders.ts';
import type { PartnerObserver } from './observer.ts';
import { createUsage } from './usage.ts';
import type { Usage } from './usage.ts';
import { Writes } from './writes.ts';

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

/** The Partner API, as the rest of the gateway uses it. */
export interface Partner extends AsyncDisposable {
  /** For one operation, or one delivered event: what they read is counted into `usage`. */
  loadersFor(usage: Usage): Loaders;
  readonly writes: Writes;
  /**
   * Drops what is cached under these paths, all pages and filters of a list, and detaches reads in flight:
   * whoever asks after this reads anew, and the late answers are not kept.
   */
  forget(paths: readonly string[]): void;
  /** For when news of what is stale may have been missed. */
  forgetAll(): void;
  /** Whether the cache still holds exactly this object. */
  isCurrent(entry: CacheEntry): boolean;
  /**
   * Called with each path whose answers are no longer right: it was forgotten, a newer answer has replaced one, or the
   * list's length has changed. Called with `undefined` when all of them are. The answer ends it.
   */
  onInvalidate(listener: InvalidationListener): () => void;
  /** Resolves if a token is obtainable and the API key is taken; rejects with the `PartnerError` that says why. */
  check(): Promise<void>;
  state(): PartnerState;
}

export interface PartnerState {
  readonly queued: number;
  readonly inFlight: number;
  readonly tokenAgeSeconds: number | undefined;
  readonly callsToday: number;
  /** Undefined without a quota. */
  readonly quotaRemaining: number | undefined;
  /** Of the routes together: `closed` if all are. */
  readonly breaker: BreakerState;
  readonly cacheBytes: number;
  readonly cacheEntries: number;
}

const CACHE_BYTES = 64 * 1024 * 1024;
/** After the API key was refused, how often a readiness check may ask whether it still is. */
const CHECK_PAUSE_MS = 5000;

const authentication: CallKind = {
  method: 'POST',
  template: AUTHENTICATE,
  // A second token takes nothing from the first.
  repeat: 'freely',
  isWrite: false,
  isAuthorized: false,
};

export function createPartner(
  connection: PartnerConnection,
  options: Partial<PartnerOptions> = {},
): Partner {
  const base = baseOf(connection.baseUrl);
  const { clock = systemClock, observer = {}, random = Math.random, dailyQuota } = options;
  const { maxConcurrency = 64, timeoutMs = 5000, cacheBytes = CACHE_BYTES } = options;

  const limiter = createLimiter(
    { maxInFlight: maxConcurrency, ratePerSecond: options.ratePerSecond, dailyQuota },
    clock,
  );
  const pool = openPool(base.origin, {
    connections: maxConcurrency,
    connectMs: timeoutMs,
    lookup: options.lookup,
  });
  const { clientId, clientSecret } = connection;
  const credentials = JSON.stringify({ clientId, clientSecret });
  const authenticate = () => client.send(authentication, AUTHENTICATE, credentials);
  const tokens = createTokens(authenticate, clock, observer);
  const parts: CallParts = {
    pool,
    limiter,
    breakers: new Map(),
    tokens,
    budget: new RetryBudget(clock),
    clock,
    observer,
    random,
    apiKey: connection.apiKey,
    pathPrefix: base.path,
    timeoutMs,
    keyRefused: undefined,
  };
  const cache = new ResponseCache(clock, cacheBytes);
  const client = new Client(cache, parts);
  return {
    loadersFor: (usage) => new Loaders(client, usage),
    writes: new Writes(client),
    forget(paths) {
      for (const path of paths) client.invalidate(path);
    },
    forgetAll: () => client.invalidateAll(),
    isCurrent: (entry) => cache.isCurrent(entry),
    onInvalidate: (listener) => cache.onInvalidate(listener),
    async check() {
      await tokens.obtain();
      const { keyRefused } = parts;
      if (!keyRefused) return;
      if (clock.now() - keyRefused.at < CHECK_PAUSE_MS) throw keyRefused.error;
      await new Loaders(client, createUsage()).partner({ fresh: true });
    },
    state: () => ({
      queued: limiter.queued,
      inFlight: limiter.inFlight,
      tokenAgeSeconds: tokens.ageMs === undefined ? undefined : tokens.ageMs / 1000,
      callsToday: limiter.usedToday,
      quotaRemaining: dailyQuota === undefined ? undefined : dailyQuota - limiter.usedToday,
      breaker: worstOf(parts.breakers.values()),
      cacheBytes: cache.bytes,
      cacheEntries: cache.size,
    }),
    async [Symbol.asyncDispose]() {
      tokens.close();
      await pool.close();
    },
  };
}

/** Without `/v2` every route is unknown to the API, and the error reads as one about credentials. */
function baseOf(baseUrl: string): { readonly origin: string; readonly path: string } {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const path = url?.pathname.replace(/\/+$/, '') ?? '';
  const isPlain = url && !url.search && !url.hash && !url.username && !url.password;
  if (!isPlain || !/^https?:$/.test(url.protocol) || !path.endsWith('/v2')) {
    throw new Error('the base URL of the Partner API must be an http(s) URL that ends in /v2');
  }
  if (isForbiddenHost(url.hostname)) {
    throw new Error('the base URL of the Partner API must not be a link-local or metadata address');
  }
  return { origin: url.origin, path };
}
