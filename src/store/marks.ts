import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';

import type { Loaded } from '../loaded.ts';
import { type KeyStore, MARK_MS } from './store.ts';

export type Marks = ReturnType<typeof createMarks>;

export const lockedMark = (noteId: string) => `locked:${noteId}`;
export const failedMark = (sessionId: string) => `failed:${sessionId}`;

/** Locked notes and failed transcriptions, from events and rejected writes: the Partner API does not show them. */
export function createMarks(keys: KeyStore) {
  // Only positive results are cached: they are final, while a negative one may change any moment.
  const marked = new LRUCache<string, true>({ maxSize: 50_000, sizeCalculation: () => 1 });
  const loader = new DataLoader<string, boolean>(
    async (marks) => {
      const values = await keys.get(marks);
      marks.forEach((mark, i) => values[i] !== undefined && marked.set(mark, true));
      return values.map((value) => value !== undefined);
    },
    { cache: false, maxBatchSize: 500 },
  );
  const has = (mark: string): Loaded<boolean> => marked.has(mark) || loader.load(mark);

  return {
    noteLocked: (noteId: string) => has(lockedMark(noteId)),
    transcriptionFailed: (sessionId: string) => has(failedMark(sessionId)),
    /** For a write that was rejected. Never rejects: if the store is down, the next rejected write marks the note. */
    async markLocked(noteId: string): Promise<void> {
      const mark = lockedMark(noteId);
      marked.set(mark, true);
      await keys.put({ [mark]: '' }, MARK_MS).catch(() => undefined);
    },
  };
}
