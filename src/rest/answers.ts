import { LRUCache } from 'lru-cache';
import { invalidate } from '../answer.ts';
import type { Answer } from '../answer.ts';
import type { Clock } from './clock.ts';
import { createPathIndex } from './path-index.ts';
import type { Read } from './read.ts';

/**
 * Answers of the Partner API, by path and query. They hold patient data, whoever's: access is decided on
 * every use and never here.
 */
export interface Answers {
  /** Only what is still right. */
  get(key: string): Answer | undefined;
  keep<T>(read: Read<T>, value: T, bytes: number): Answer<T>;
  forget(path: string): void;
  forgetAll(): void;
  /** A list's length as last seen, long after its rows are gone. A hint, not a fact. */
  totalOf(listKey: string): number | undefined;
  readonly bytes: number;
  readonly size: number;
}

interface KeptAnswer extends Answer {
  readonly path: string;
  readonly listKey: string | undefined;
  valid: boolean;
}

const MAX_TOTALS = 50_000;
/** An entry costs more than its JSON: the record, the keys, the index. */
const OVERHEAD_BYTES = 512;

export function createAnswers(clock: Clock, maxBytes: number): Answers {
  const index = createPathIndex();
  const answers = new LRUCache<string, KeptAnswer>({
    maxSize: maxBytes,
    // One large answer must not push out all the others.
    maxEntrySize: Math.ceil(maxBytes / 4),
    dispose: (answer, key, reason) => {
      // Whatever has left the cache can't be told any more that it is stale.
      invalidate(answer);
      if (reason !== 'set') index.remove(answer.path, key);
    },
  });
  const totals = new LRUCache<string, number>({ max: MAX_TOTALS });

  // A window must never be put together from two states of its list.
  const noteTotal = (path: string, listKey: string, total: number): void => {
    const last = totals.get(listKey);
    totals.set(listKey, total);
    if (last === undefined || last === total) return;
    for (const key of index.under(path)) {
      const answer = answers.peek(key);
      if (answer?.listKey === listKey) answers.delete(key);
    }
  };

  return {
    get(key) {
      const answer = answers.get(key);
      if (!answer || answer.expiresAt > clock.now()) return answer;
      answers.delete(key);
      return undefined;
    },
    keep(read, value, bytes) {
      const { key, kind, list, path } = read;
      if (list) noteTotal(path, list.key, list.totalOf(value));
      const expiresAt = clock.now() + kind.ttlMs(value);
      const answer = { value, expiresAt, valid: true, path, listKey: list?.key };
      answers.set(key, answer, { size: bytes + OVERHEAD_BYTES });
      if (answers.has(key)) index.add(path, key);
      else {
        // Too large to be kept, and in the way of the one it would have replaced.
        invalidate(answer);
        index.remove(path, key);
      }
      return answer;
    },
    forget(path) {
      for (const key of index.under(path)) answers.delete(key);
    },
    forgetAll() {
      answers.clear();
    },
    totalOf: (listKey) => totals.get(listKey),
    get bytes() {
      return answers.calculatedSize;
    },
    get size() {
      return answers.size;
    },
  };
}
