import DataLoader from 'dataloader';
import { type MaybePromise, mapMaybePromise } from '../maybe-promise.ts';
import type { Uuid } from '../uuid.ts';
import type { CacheEntry } from './cache.ts';
import type { Endpoint } from './endpoints.ts';
import { PartnerError } from './errors.ts';
import { pageTarget, type ListRef } from './lists.ts';
import type { Partner, Target, Usage } from './partner.ts';

type Loader = DataLoader<Target, unknown, string>;
const valueOf = <T>({ value }: CacheEntry<T>): T => value;

/**
 * What one operation, or one delivered event, reads: a DataLoader for each kind of record, made when first used. Within
 * an operation the same read has the same result, until it changes something; what is cached is returned synchronously.
 */
export class Loaders {
  private readonly partner: Partner;
  private readonly usage: Usage;
  /** Every cached answer that was read: what is made of them is valid while each is current. */
  readonly entries: CacheEntry[] = [];
  /** What was read already, to be returned without a promise. */
  private readonly known = new Map<string, CacheEntry>();
  private readonly loaders = new Map<Endpoint, Loader>();
  /** Answers that are requested later are fresh. Set when the operation begins, and before and after each change. */
  freshSince: number;

  constructor(partner: Partner, usage: Usage) {
    this.partner = partner;
    this.usage = usage;
    this.freshSince = partner.clock.now();
  }

  /** With `since`, a page that was requested after that time. */
  page(list: ListRef, page: number, since?: number) {
    return mapMaybePromise(this.read(pageTarget(list, page, since)), valueOf);
  }

  /** With `fresh`, one that was requested after `freshSince`. */
  record<T>(endpoint: Endpoint<T>, id?: Uuid, { fresh = false } = {}): MaybePromise<T> {
    const path = endpoint.path(id);
    const target = { endpoint, id, key: path, path, since: fresh ? this.freshSince : 0 };
    return mapMaybePromise(this.read(target), valueOf);
  }

  /** The same with its validity, for a caller that keeps it: `kept` is not looked up again while it is current. */
  entry<T>(endpoint: Endpoint<T>, id: Uuid, kept?: CacheEntry<T>): MaybePromise<CacheEntry<T>> {
    const known = kept && this.known.get(kept.key);
    if (known) return known as CacheEntry<T>;
    // Valid at `freshSince` is enough: reading the clock again would cost time for each row of a list.
    if (kept?.validity.isCurrent && kept.expiresAt > this.freshSince) return this.use(kept, true);
    const path = endpoint.path(id);
    return this.read({ endpoint, id, key: path, path });
  }

  /** Called before and after a change. Answers that the shared cache holds still cost no call, unless `fresh`. */
  clear(): void {
    this.freshSince = this.partner.clock.now();
    this.known.clear();
    this.loaders.clear();
  }

  /** Throws if an answer names another record than the expected one: it must be neither shown nor cached. */
  requireSame(endpoint: Endpoint, id: Uuid, named?: Uuid | null, expected?: Uuid): void {
    if (!expected || !named || named === expected) return;
    const { path, template } = endpoint;
    this.partner.invalidate([path(id)]);
    this.partner.observer.otherRecord?.(template, this.usage.requestId);
    throw new PartnerError('UPSTREAM_BAD_RESPONSE', template, 'the answer is about another record');
  }

  private read<T>(target: Target<T>): MaybePromise<CacheEntry<T>> {
    const { endpoint, key, since = 0 } = target;
    // The key names the endpoint, and with it the type of what is cached under it.
    const known = this.known.get(key);
    if (known && known.requestedAt > since) return known as CacheEntry<T>;
    const cached = this.partner.cache.get(key);
    if (cached && cached.requestedAt > since) return this.use(cached as CacheEntry<T>, true);
    if (since > 0) {
      this.known.delete(key);
      this.loaderOf(endpoint).clear(target);
    }
    return this.loaderOf(endpoint).load(target) as Promise<CacheEntry<T>>;
  }

  private loaderOf(endpoint: Endpoint): Loader {
    const made = this.loaders.get(endpoint);
    if (made) return made;
    // The API has no batches: each key gets a promise of its own, so that none waits for the slowest.
    const fetch = async (targets: readonly Target[]) =>
      targets.map(async (one) => this.use(await this.partner.call(one, this.usage)));
    const loader: Loader = new DataLoader(fetch, { cacheKeyFn: ({ key }) => key });
    this.loaders.set(endpoint, loader);
    return loader;
  }

  private use<T>(entry: CacheEntry<T>, isCached = false): CacheEntry<T> {
    if (isCached) this.usage.cached += 1;
    const known = this.known.get(entry.key);
    if (known === entry) return entry;
    this.entries.push(entry);
    // A slow call must not replace the answer of a later, fresh one.
    if (!known || entry.validity.isCurrent) this.known.set(entry.key, entry);
    return entry;
  }
}
