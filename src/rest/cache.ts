import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';

/** A cached answer. Never changed: a newer answer replaces the object, so that identity says whether it is current. */
export interface CacheEntry<T = unknown> {
  /** The path with its query. */
  readonly key: string;
  /** The path alone: what is invalidated. All pages and filters of a list share one. */
  readonly path: string;
  readonly value: T;
  /** On the clock that was passed in: `performance.now()`. */
  readonly expiresAt: number;
}

/** The path that was invalidated, or `undefined` for all of them. */
export type InvalidationListener = (path: string | undefined) => void;

const MAX_TOTALS = 50_000;
/** An entry costs more than its JSON: the record, the keys, the index. */
const OVERHEAD_BYTES = 512;
const PURGE_EVERY_MS = 1000;

/**
 * Answers by path and query, bounded by bytes and by time. They hold patient data, whoever's: access is decided on every
 * use and never here.
 */
export class ResponseCache {
  private readonly clock: Clock;
  private readonly entries: LRUCache<string, CacheEntry>;
  /** The keys of a list's pages and filters. A record's path is its own key and has no entry here. */
  private readonly keysByPath = new Map<string, Set<string>>();
  private readonly totals = new LRUCache<string, number>({ max: MAX_TOTALS });
  private purgedAt = 0;
  private readonly listeners = new Set<InvalidationListener>();

  constructor(clock: Clock, maxBytes: number) {
    this.clock = clock;
    this.entries = new LRUCache({
      maxSize: maxBytes,
      // One large answer must not evict all the others.
      maxEntrySize: Math.ceil(maxBytes / 4),
      dispose: ({ path }, key, reason) => {
        if (reason === 'set' || key === path) return;
        const keys = this.keysByPath.get(path);
        if (keys?.delete(key) && keys.size === 0) this.keysByPath.delete(path);
      },
    });
  }

  get(key: string): CacheEntry | undefined {
    const entry = this.entries.get(key);
    if (!entry || entry.expiresAt > this.clock.now()) return entry;
    this.entries.delete(key);
    return undefined;
  }

  isCurrent(entry: CacheEntry): boolean {
    return this.entries.peek(entry.key) === entry;
  }

  set(entry: CacheEntry, bytes: number): void {
    const { key, path } = entry;
    const now = this.clock.now();
    if (now - this.purgedAt >= PURGE_EVERY_MS) this.purge(now);
    const replaced = this.entries.peek(key);
    this.entries.set(key, entry, { size: bytes + OVERHEAD_BYTES });
    if (key !== path && this.entries.has(key)) {
      const keys = this.keysByPath.get(path);
      if (keys) keys.add(key);
      else this.keysByPath.set(path, new Set([key]));
    }
    if (replaced && replaced.expiresAt > now) this.notify(path);
  }

  invalidate(path: string): void {
    this.entries.delete(path);
    for (const key of this.keysByPath.get(path) ?? []) this.entries.delete(key);
    this.notify(path);
  }

  invalidateAll(): void {
    this.entries.clear();
    this.notify(undefined);
  }

  /** A list's length as last seen, kept long after its rows. A hint, not a fact. */
  totalOf(listKey: string): number | undefined {
    return this.totals.get(listKey);
  }

  /** A new length drops the list's pages: a window must never be put together from two states of its list. */
  setTotal(listKey: string, path: string, total: number): void {
    const last = this.totals.get(listKey);
    if (last === total) return;
    this.totals.set(listKey, total);
    if (last === undefined) return;
    for (const key of this.keysByPath.get(path) ?? []) {
      // With the same filter: what comes after the list's own key is the page.
      if (key.startsWith(listKey) && /^[?&]page=\d+$/.test(key.slice(listKey.length))) {
        this.entries.delete(key);
      }
    }
    this.notify(path);
  }

  onInvalidate(listener: InvalidationListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  get bytes(): number {
    return this.entries.calculatedSize;
  }

  get size(): number {
    return this.entries.size;
  }

  /** Patient data is not kept for longer than it can be used. */
  private purge(now: number): void {
    this.purgedAt = now;
    for (const [key, { expiresAt }] of this.entries.entries()) {
      if (expiresAt <= now) this.entries.delete(key);
    }
  }

  private notify(path: string | undefined): void {
    for (const listener of this.listeners) listener(path);
  }
}
