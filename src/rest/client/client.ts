import type { Pool } from 'undici';
import type { Page } from '../../page.ts';
import type { Uuid } from '../../uuid.ts';
import { ResponseCache } from '../cache.ts';
import type { CacheEntry } from '../cache.ts';
import { systemClock, type Clock } from '../../clock.ts';
import { authenticate } from '../endpoints.ts';
import type { Endpoint, Route } from '../endpoints.ts';
import { OperationAborted, PartnerContractBroken, PartnerNotFound } from '../errors.ts';
import type { PartnerError } from '../errors.ts';
import type { PartnerConnection, PartnerObserver, PartnerOptions } from '../partner.ts';
import { createUsage } from '../usage.ts';
import type { Usage } from '../usage.ts';
import { Breaker } from './breaker.ts';
import { Call } from './call.ts';
import { Limiter } from './limiter.ts';
import { RetryBudget } from './retry.ts';
import { Tokens } from './token.ts';
import { Deadlines, openPool, parseBaseUrl } from './transport.ts';

/** One GET: what is asked, and under which key its answer is shared. */
export interface Target<T = unknown> {
  readonly endpoint: Endpoint<T>;
  /** The one in the path. */
  readonly id: Uuid | undefined;
  /** The path and its query. */
  readonly key: string;
  /** The path alone: what is invalidated. */
  readonly path: string;
  readonly page: number;
  /** The list with its filter, whatever the page. */
  readonly listKey: string | undefined;
  /** Skips the cache, and calls that began earlier. */
  readonly isFresh: boolean;
}

const CACHE_BYTES = 64 * 1024 * 1024;

/** The HTTP client of the Partner API, its cache and the calls in flight. Shared by all operations. */
export class Client {
  readonly cache: ResponseCache;
  readonly clock: Clock;
  readonly observer: PartnerObserver;
  readonly random: () => number;
  readonly limiter: Limiter;
  readonly tokens: Tokens;
  readonly budget: RetryBudget;
  readonly breakers = new Map<string, Breaker>();
  readonly deadlines: Deadlines;
  readonly pool: Pool;
  readonly apiKey: string;
  /** What the base URL has after its host. */
  readonly pathPrefix: string;
  /** Of an attempt that may be repeated. */
  readonly timeoutMs: number;
  /** Set while the API's gateway refuses our key: a token can be valid while every call is refused. */
  keyRefused: { readonly error: PartnerError; readonly at: number } | undefined;
  private readonly inFlight = new Map<string, Read>();
  /** The reads of list pages among them: one path has many. */
  private readonly pagesInFlight = new Set<Read>();

  constructor(connection: PartnerConnection, options: Partial<PartnerOptions>) {
    const { apiKey, baseUrl, clientId, clientSecret } = connection;
    const { clock = systemClock, observer = {}, random = Math.random } = options;
    const { maxConcurrency = 64, timeoutMs = 5000, ratePerSecond, dailyQuota } = options;
    const { origin, path } = parseBaseUrl(baseUrl);
    const credentials = JSON.stringify({ clientId, clientSecret });
    this.cache = new ResponseCache(clock, options.cacheBytes ?? CACHE_BYTES);
    this.clock = clock;
    this.observer = observer;
    this.random = random;
    this.limiter = new Limiter(clock, maxConcurrency, ratePerSecond, dailyQuota);
    this.tokens = new Tokens(
      () =>
        this.send(
          authenticate,
          authenticate.template,
          credentials,
          createUsage({ priority: 'token' }),
        ),
      clock,
      observer,
    );
    this.budget = new RetryBudget(clock);
    this.deadlines = new Deadlines(clock);
    this.pool = openPool(origin, maxConcurrency, timeoutMs, options.lookup);
    this.apiKey = apiKey;
    this.pathPrefix = path;
    this.timeoutMs = timeoutMs;
  }

  /** Without the cache, which the caller has asked already. */
  get(target: Target, usage: Usage): Promise<CacheEntry> {
    if (usage.isOver) return Promise.reject(new OperationAborted(target.endpoint.template));
    const underway = this.inFlight.get(target.key);
    if (underway && !target.isFresh) {
      usage.coalesced += 1;
      return underway.wait(usage) as Promise<CacheEntry>;
    }
    if (underway) this.detach(underway);
    const read = new Read(this, target, usage);
    this.inFlight.set(target.key, read);
    if (target.listKey !== undefined) this.pagesInFlight.add(read);
    return this.begin(read, usage) as Promise<CacheEntry>;
  }

  /** A write, or the request for a token. */
  send(route: Route, path: string, body: string | null, usage: Usage): Promise<unknown> {
    if (usage.isOver) return Promise.reject(new OperationAborted(route.template));
    return this.begin(new Call(this, route, path, body, usage), usage);
  }

  /**
   * Drops what is cached under the path. Calls in flight go on for those who wait already; later reads make a new
   * call, and the late answers are not cached.
   */
  invalidate(path: string): void {
    const underway = this.inFlight.get(path);
    if (underway) this.detach(underway);
    for (const read of this.pagesInFlight) if (read.target.path === path) this.detach(read);
    this.cache.invalidate(path);
  }

  invalidateAll(): void {
    this.inFlight.clear();
    this.pagesInFlight.clear();
    this.cache.invalidateAll();
  }

  isInFlight(read: Read): boolean {
    return this.inFlight.get(read.target.key) === read;
  }

  /** From here on nobody can join it, and its answer is not cached. */
  detach(read: Read): void {
    if (!this.isInFlight(read)) return;
    this.inFlight.delete(read.target.key);
    this.pagesInFlight.delete(read);
  }

  breakerOf(template: string): Breaker {
    const known = this.breakers.get(template);
    if (known) return known;
    const onChange = (state: Breaker['state']) => this.observer.breakerChanged?.(state, template);
    const breaker = new Breaker(this.clock, onChange);
    this.breakers.set(template, breaker);
    return breaker;
  }

  private begin(call: Call, usage: Usage): Promise<unknown> {
    const result = call.wait(usage);
    this.budget.deposit();
    call.start();
    return result;
  }
}

/** A GET, whose answer is checked and cached. */
class Read extends Call {
  readonly target: Target;
  private readonly requestId: string | undefined;

  constructor(client: Client, target: Target, usage: Usage) {
    super(client, target.endpoint, target.key, null, usage);
    this.target = target;
    this.requestId = usage.requestId;
  }

  protected override resultOf(json: unknown, bytes: number): CacheEntry {
    const { endpoint, id, listKey, page } = this.target;
    const { template } = endpoint;
    const { observer } = this.client;
    const value = endpoint.read(json, id, page);
    if (value === 'another-record') {
      observer.otherRecord?.(template, this.requestId);
      throw new PartnerContractBroken(template, 'the answer is about another record');
    }
    if (value === undefined) {
      throw new PartnerContractBroken(template, 'the answer does not have the documented shape');
    }
    if (listKey !== undefined) this.reportUnreadableRows(value as Page<unknown>);
    return this.entryOf(value, bytes);
  }

  private reportUnreadableRows({ rows }: Page<unknown>): void {
    if (!rows.includes(undefined)) return;
    const unreadable = rows.filter((row) => row === undefined).length;
    const { template } = this.target.endpoint;
    this.client.observer.unreadableRows?.(template, unreadable, this.requestId);
  }

  protected override resultInsteadOf(error: unknown): CacheEntry | undefined {
    const { missing } = this.target.endpoint;
    if (!missing || !(error instanceof PartnerNotFound)) return undefined;
    return this.entryOf(missing.value, 0);
  }

  protected override ended(): void {
    this.client.detach(this);
  }

  private entryOf(value: unknown, bytes: number): CacheEntry {
    const { cache, clock } = this.client;
    const { endpoint, key, listKey, path } = this.target;
    const entry: CacheEntry = { key, path, value, expiresAt: clock.now() + endpoint.ttlMs(value) };
    if (!this.client.isInFlight(this)) return entry;
    if (listKey !== undefined) cache.setTotal(listKey, path, (value as Page<unknown>).total);
    cache.set(entry, bytes);
    return entry;
  }
}
