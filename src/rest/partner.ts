import { createAllowance } from './allowance.ts';
import { createAnswers } from './answers.ts';
import type { BreakerState } from './breaker.ts';
import { createBreakers } from './breakers.ts';
import { createCaller } from './caller.ts';
import { createCancel } from './cancel.ts';
import { systemClock } from './clock.ts';
import type { Clock } from './clock.ts';
import { createLane } from './lane.ts';
import { createLimiter } from './limiter.ts';
import { createLoaders } from './loaders.ts';
import type { Loaders } from './loaders.ts';
import type { PartnerObserver } from './observer.ts';
import { createReads } from './reads.ts';
import { createRetryBudget } from './retry-budget.ts';
import { AUTHENTICATE } from './routes.ts';
import { createSender } from './sender.ts';
import { createStanding } from './standing.ts';
import { createTokens } from './tokens.ts';
import { createUsage } from './usage.ts';
import type { Usage } from './usage.ts';
import { openWire } from './wire.ts';
import { createWrites } from './writes.ts';
import type { Writes } from './writes.ts';

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

export function createPartner(
  connection: PartnerConnection,
  options: Partial<PartnerOptions> = {},
): Partner {
  const base = baseOf(connection.baseUrl);
  const { clock = systemClock, observer = {}, random = Math.random, dailyQuota } = options;
  const { maxConcurrency = 64, timeoutMs = 5000, cacheBytes = CACHE_BYTES } = options;

  const wire = openWire(base.origin, maxConcurrency, timeoutMs, clock);
  const allowance = createAllowance(clock, options.ratePerSecond, dailyQuota);
  const limiter = createLimiter(maxConcurrency, allowance, clock);
  const breakers = createBreakers(clock, (state, route) => observer.breakerChanged?.(state, route));
  const standing = createStanding(clock);
  const tokens = createTokens(() => authenticate(), clock, observer);
  const send = createSender({
    wire,
    limiter,
    allowance,
    breakers,
    tokens,
    clock,
    observer,
    apiKey: connection.apiKey,
    pathPrefix: base.path,
    timeoutMs,
  });
  const budget = createRetryBudget(clock);
  const perform = createCaller({ send, tokens, standing, budget, clock, random });
  const answers = createAnswers(clock, cacheBytes);
  const reads = createReads(perform, answers, observer);

  const tokenLane = createLane('token');
  const credentials = JSON.stringify({
    clientId: connection.clientId,
    clientSecret: connection.clientSecret,
  });
  const authenticate = async (): Promise<unknown> => {
    const { json } = await perform({
      method: 'POST',
      template: AUTHENTICATE,
      path: AUTHENTICATE,
      body: credentials,
      // A second token takes nothing from the first.
      repeat: 'freely',
      isWrite: false,
      isAuthorized: false,
      lane: tokenLane,
      cancel: createCancel(),
      headers: [],
      charge: () => {},
    });
    return json;
  };

  return {
    loadersFor: (usage) => createLoaders(reads, usage),
    writes: createWrites(perform),
    forget(paths) {
      for (const path of paths) reads.forget(path);
    },
    forgetAll: reads.forgetAll,
    async check() {
      await tokens.obtain();
      const { lost } = standing;
      if (!lost) return;
      if (clock.now() - lost.at < CHECK_PAUSE_MS) throw lost.error;
      await createLoaders(reads, createUsage()).partner({ fresh: true });
    },
    state: () => ({
      queued: limiter.queued,
      inFlight: limiter.inFlight,
      tokenAgeSeconds: tokens.ageMs === undefined ? undefined : tokens.ageMs / 1000,
      callsToday: allowance.usedToday,
      quotaRemaining: dailyQuota === undefined ? undefined : dailyQuota - allowance.usedToday,
      breaker: breakers.state,
      cacheBytes: answers.bytes,
      cacheEntries: answers.size,
    }),
    async [Symbol.asyncDispose]() {
      tokens.close();
      await wire.close();
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
  return { origin: url.origin, path };
}
