import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { upTo } from '../cache-limit.ts';

/** A cached answer, which never changes. A newer answer is a new object. */
export interface CacheEntry<T = unknown> {
  /** The path with its query. */
  readonly key: string;
  /** The path that invalidates it, besides its key: the list's path, the note's other path, or a route template. */
  readonly invalidatedBy: string;
  readonly value: T;
  /** When the call for it began. Both times are of the clock that was passed in: `performance.now()`. */
  readonly requestedAt: number;
  readonly expiresAt: number;
  /** True while the cache holds this answer, up to a second past its end. An object of its own, which can be kept alone. */
  readonly validity: { isCurrent: boolean };
}

/** Estimated size in the heap. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Measured size of an entry in the heap besides its JSON: the record, the keys, the index. */
const OVERHEAD_BYTES = 1_536;

/** Answers for all viewers, by path and query, limited by bytes and time. Access is decided on every use, never here. */
export function createResponseCache(clock: Clock) {
  /** The keys of the answers that a path invalidates. A path that is the key itself has no entry here. */
  const keysByPath = new Map<string, Set<string>>();
  const entries = new LRUCache<string, CacheEntry>({
    maxSize: MAX_BYTES,
    // One large answer must not evict all the others.
    maxEntrySize: MAX_BYTES / 4,
    ttlResolution: 0,
    perf: clock,
    onInsert({ invalidatedBy: path, validity }, key) {
      validity.isCurrent = true;
      if (key !== path) keysByPath.set(path, (keysByPath.get(path) ?? new Set()).add(key));
    },
    dispose({ invalidatedBy: path, validity }, key) {
      validity.isCurrent = false;
      const keys = keysByPath.get(path);
      if (keys?.delete(key) && keys.size === 0) keysByPath.delete(path);
    },
  });
  /** When each path was last invalidated. Fewer than 10,000 paths are invalidated during one call. */
  const invalidatedAt = new LRUCache<string, number>(upTo(10_000));
  /** The length of each list, and as of when. */
  const totals = new LRUCache<string, { total: number; requestedAt: number }>({
    ...upTo(50_000),
    // A filter may have the name of a patient in it.
    ttl: 3_600_000,
  });
  /** Patient data is kept for a second more than it can be used. `ttlAutopurge` would be a timer for each entry. */
  const purging = setInterval(() => {
    entries.purgeStale();
    totals.purgeStale();
  }, 1_000).unref();

  function drop(path: string): void {
    entries.delete(path);
    for (const key of keysByPath.get(path) ?? []) entries.delete(key);
  }

  return {
    get: (key: string): CacheEntry | undefined => entries.get(key),

    /** Stores an answer, unless `rejectOlder` was called for its path after the call for it began. */
    set(entry: CacheEntry, bytes: number): void {
      if ((invalidatedAt.get(entry.invalidatedBy) ?? 0) > entry.requestedAt) return;
      const ttl = entry.expiresAt - clock.now();
      entries.set(entry.key, entry, { size: bytes + OVERHEAD_BYTES, ttl });
    },

    /** Returns all paths that were invalidated: for a session's note, the note's own path too. */
    invalidate(path: string): readonly string[] {
      const other = entries.peek(path)?.invalidatedBy ?? path;
      // A template is the path of many answers.
      const paths = other === path || other.includes('/:') ? [path] : [path, other];
      paths.forEach(drop);
      return paths;
    },

    /** Answers to calls that are under way now are not stored under these paths. */
    rejectOlder(paths: readonly string[]): void {
      for (const path of paths) invalidatedAt.set(path, clock.now());
    },

    invalidateAll: (): void => entries.clear(),

    /** A list's length as last seen, kept long after its rows. A hint, not a fact. */
    totalOf: (listKey: string): number | undefined => totals.get(listKey)?.total,

    /** If the length changed, drops the cached pages: a window must not mix two states. False if a later call showed another. */
    setTotal(listKey: string, path: string, total: number, requestedAt: number): boolean {
      const last = totals.get(listKey);
      if (last && last.requestedAt > requestedAt) return last.total === total;
      totals.set(listKey, { total, requestedAt });
      if (last && last.total !== total) drop(path);
      return true;
    },

    close: (): void => clearInterval(purging),

    state: () => ({ cacheBytes: entries.calculatedSize, cacheEntries: entries.size }),
  };
}
