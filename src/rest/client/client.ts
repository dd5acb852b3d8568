import { otherRecord } from '../artifacts.ts';
import type { CacheEntry, ResponseCache } from '../cache.ts';
import type { CallKind, Endpoint } from '../endpoints.ts';
import { OperationAborted, PartnerContractBroken, PartnerNotFound } from '../errors.ts';
import type { Usage } from '../usage.ts';
import type { Uuid } from '../../uuid.ts';
import { Call } from './call.ts';
import type { CallParts } from './call.ts';

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
  /** Past the cache, and past calls that began earlier. */
  readonly isFresh: boolean;
}

/** The HTTP client of the Partner API: calls in flight, and the cache that their answers go into. Shared by all operations. */
export class Client {
  readonly cache: ResponseCache;
  readonly parts: CallParts;
  private readonly inFlight = new Map<string, Read>();
  /** Those of them that read a page: one path has many. */
  private readonly pagesInFlight = new Set<Read>();

  constructor(cache: ResponseCache, parts: CallParts) {
    this.cache = cache;
    this.parts = parts;
  }

  /** Past the cache, which the caller has asked already. */
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

  /** A call for its effect; without a usage, the one for the partner token. */
  send(kind: CallKind, path: string, body: string | null, usage?: Usage): Promise<unknown> {
    if (usage?.isOver) return Promise.reject(new OperationAborted(kind.template));
    return this.begin(new Call(this.parts, kind, path, body, usage), usage);
  }

  /**
   * Drops what is cached under the path. Calls in flight go on for those who wait already: whoever asks from now on
   * asks anew, and the late answers are not cached.
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

  private begin(call: Call, usage: Usage | undefined): Promise<unknown> {
    const result = call.wait(usage);
    this.parts.budget.deposit();
    call.start();
    return result;
  }
}

/** A GET, whose answer is checked and cached. */
class Read extends Call {
  readonly target: Target;
  private readonly client: Client;
  private readonly requestId: string | undefined;

  constructor(client: Client, target: Target, usage: Usage) {
    super(client.parts, target.endpoint.get, target.key, null, usage);
    this.client = client;
    this.target = target;
    this.requestId = usage.requestId;
  }

  protected override resultOf(json: unknown, bytes: number): CacheEntry {
    const { endpoint, id, page } = this.target;
    const { template } = endpoint;
    const { observer } = this.parts;
    const value = endpoint.read(json, id, page);
    if (value === otherRecord) {
      observer.otherRecord?.(template, this.requestId);
      throw new PartnerContractBroken(template, 'the answer is about another record');
    }
    if (value === undefined) {
      throw new PartnerContractBroken(template, 'the answer has not the shape that was wanted');
    }
    const unreadable = endpoint.unreadableRowsIn?.(value) ?? 0;
    if (unreadable > 0) observer.unreadableRows?.(template, unreadable, this.requestId);
    return this.entryOf(value, bytes);
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
    const { cache } = this.client;
    const { endpoint, key, listKey, path } = this.target;
    const expiresAt = this.parts.clock.now() + endpoint.ttlMs(value);
    const entry: CacheEntry = { key, path, value, expiresAt };
    if (!this.client.isInFlight(this)) return entry;
    const total = endpoint.totalOf?.(value);
    if (listKey !== undefined && total !== undefined) cache.setTotal(listKey, path, total);
    cache.set(entry, bytes);
    return entry;
  }
}
