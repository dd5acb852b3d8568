import { otherRecord } from '../artifacts.ts';
import type { CacheEntry, ResponseCache } from '../cache.ts';
import type { Endpoint } from '../endpoints.ts';
import { OperationAborted, PartnerContractBroken, PartnerNotFound } from '../errors.ts';
import type { Usage } from '../usage.ts';
import type { Uuid } from '../../uuid.ts';
import { Call } from './call.ts';
import type { CallParts, CallRequest } from './call.ts';
import { createCallQueue } from './limiter.ts';
import type { CallQueue } from './limiter.ts';

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
}

interface Waiter {
  readonly usage: Usage;
  readonly resolve: (entry: CacheEntry) => void;
  readonly reject: (error: unknown) => void;
}

/** The HTTP client of the Partner API: cached answers, then calls in flight, then a call. Shared by all operations. */
export class Client {
  readonly cache: ResponseCache;
  readonly parts: CallParts;
  private readonly inFlight = new Map<string, Read>();

  constructor(cache: ResponseCache, parts: CallParts) {
    this.cache = cache;
    this.parts = parts;
  }

  /** Past the cache, which was asked already. `isFresh`: past calls that began earlier, too. */
  get(target: Target, usage: Usage, isFresh: boolean): Promise<CacheEntry> {
    if (usage.isOver) return Promise.reject(new OperationAborted(target.endpoint.template));
    const underway = this.inFlight.get(target.key);
    if (underway && !isFresh) {
      usage.coalesced += 1;
      return underway.wait(usage);
    }
    if (underway) this.detach(underway);
    const read = new Read(this, target, usage);
    this.inFlight.set(target.key, read);
    const entry = read.wait(usage);
    this.parts.budget.deposit();
    read.start();
    return entry;
  }

  /** A call for its effect, or without a usage for the partner token. */
  send(request: CallRequest, usage: Usage | undefined): Promise<unknown> {
    if (usage?.isOver) return Promise.reject(new OperationAborted(request.template));
    this.parts.budget.deposit();
    return new Promise((resolve, reject) => {
      new Write(this.parts, request, usage, resolve, reject).start();
    });
  }

  /**
   * Drops what is cached under the path. Calls in flight go on for those who wait already: whoever asks from now on
   * asks anew, and the late answers are not cached.
   */
  invalidate(path: string): void {
    if (this.inFlight.size > 0) {
      const underway = this.inFlight.get(path);
      if (underway) this.detach(underway);
      for (const read of this.inFlight.values()) {
        if (read.target.listKey !== undefined && read.target.path === path) this.detach(read);
      }
    }
    this.cache.invalidate(path);
  }

  invalidateAll(): void {
    for (const read of this.inFlight.values()) this.detach(read);
    this.cache.invalidateAll();
  }

  isInFlight(read: Read): boolean {
    return this.inFlight.get(read.target.key) === read;
  }

  /** From here on nobody can join it, and its answer is not cached. */
  detach(read: Read): void {
    if (this.isInFlight(read)) this.inFlight.delete(read.target.key);
  }
}

/** A GET and all who wait for it. Each may leave on its own; it is aborted when all have. */
class Read extends Call {
  readonly target: Target;
  readonly queue: CallQueue;
  private readonly client: Client;
  private readonly waiters: Waiter[] = [];
  private readonly most: number;

  constructor(client: Client, target: Target, usage: Usage) {
    super(client.parts, {
      method: 'GET',
      template: target.endpoint.template,
      path: target.key,
      body: null,
      repeat: 'freely',
      isWrite: false,
      isAuthorized: true,
      traceHeaders: usage.traceHeaders,
    });
    this.client = client;
    this.target = target;
    this.queue = usage.queue;
    this.most = usage.maxCalls;
  }

  wait(usage: Usage): Promise<CacheEntry> {
    usage.begins(this);
    return new Promise((resolve, reject) => {
      this.waiters.push({ usage, resolve, reject });
    });
  }

  abandon(usage: Usage): void {
    const error = new OperationAborted(this.target.endpoint.template);
    for (let i = this.waiters.length - 1; i >= 0; i -= 1) {
      const waiter = this.waiters[i];
      if (waiter?.usage !== usage) continue;
      this.waiters.splice(i, 1);
      waiter.reject(error);
    }
    usage.ends(this);
    if (this.waiters.length > 0) return;
    this.client.detach(this);
    this.abort();
  }

  /** The first who still can pays. */
  protected charge(isRetry: boolean): boolean {
    const payer = this.waiters.find(({ usage }) => usage.calls < usage.maxCalls)?.usage;
    if (!payer) return false;
    payer.calls += 1;
    if (isRetry) payer.retried += 1;
    return true;
  }

  protected maxCalls(): number {
    return this.most;
  }

  protected succeeded(json: unknown, bytes: number): void {
    const { endpoint, id, page } = this.target;
    const { observer } = this.parts;
    const value = endpoint.read(json, id, page);
    if (value === otherRecord) {
      observer.otherRecord?.(endpoint.template);
      return this.failed(broken(endpoint, 'the answer is about another record'));
    }
    if (value === undefined) {
      return this.failed(broken(endpoint, 'the answer has not the shape that was wanted'));
    }
    const unreadable = endpoint.unreadableRowsIn?.(value) ?? 0;
    if (unreadable > 0) observer.unreadableRows?.(endpoint.template, unreadable);
    this.settle(value, bytes);
  }

  protected failed(error: unknown): void {
    const { missing } = this.target.endpoint;
    if (missing && error instanceof PartnerNotFound) return this.settle(missing.value, 0);
    this.client.detach(this);
    for (const { usage, reject } of this.waiters) {
      usage.ends(this);
      reject(error);
    }
  }

  private settle(value: unknown, bytes: number): void {
    const { cache } = this.client;
    const { endpoint, key, listKey, path } = this.target;
    const expiresAt = this.parts.clock.now() + endpoint.ttlMs(value);
    const entry: CacheEntry = { key, path, value, expiresAt };
    if (this.client.isInFlight(this)) {
      this.client.detach(this);
      const total = listKey === undefined ? undefined : endpoint.totalOf?.(value);
      if (listKey !== undefined && total !== undefined) cache.setTotal(listKey, path, total);
      cache.set(entry, bytes);
    }
    for (const { usage, resolve } of this.waiters) {
      usage.ends(this);
      resolve(entry);
    }
  }
}

function broken({ template }: Endpoint<unknown>, what: string): PartnerContractBroken {
  return new PartnerContractBroken(template, what);
}

/** A call for its effect. Without a usage it is the partner's own: the token. */
class Write extends Call {
  readonly queue: CallQueue;
  private readonly usage: Usage | undefined;
  private readonly resolve: (json: unknown) => void;
  private readonly reject: (error: unknown) => void;

  constructor(
    parts: CallParts,
    request: CallRequest,
    usage: Usage | undefined,
    resolve: (json: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    super(parts, request);
    this.queue = createCallQueue(usage ? 'write' : 'token');
    this.usage = usage;
    this.resolve = resolve;
    this.reject = reject;
    usage?.begins(this);
  }

  abandon(): void {
    this.abort();
  }

  protected charge(isRetry: boolean): boolean {
    if (!this.usage) return true;
    if (this.usage.calls >= this.usage.maxCalls) return false;
    this.usage.calls += 1;
    if (isRetry) this.usage.retried += 1;
    return true;
  }

  protected maxCalls(): number {
    return this.usage?.maxCalls ?? Number.POSITIVE_INFINITY;
  }

  protected succeeded(json: unknown): void {
    this.usage?.ends(this);
    this.resolve(json);
  }

  protected failed(error: unknown): void {
    this.usage?.ends(this);
    this.reject(error);
  }
}
