import DataLoader from 'dataloader';

import { type KeyStore, MARK_MS } from './store.ts';

export type Marks = ReturnType<typeof createMarks>;

export const lockedMark = (noteId: string) => `locked:${noteId}`;
export const failedMark = (sessionId: string) => `failed:${sessionId}`;

/** Locked notes and failed transcriptions, from events and rejected writes: the Partner API does not show them. */
export function createMarks(keys: KeyStore) {
  // Marks that are asked for together share a read. None is cached: it may be set any moment.
  const loader = new DataLoader<string, boolean>(
    async (marks) => (await keys.get(marks)).map((value) => value !== null),
    { cache: false, maxBatchSize: 500 },
  );

  return {
    noteLocked: (noteId: string) => loader.load(lockedMark(noteId)),
    transcriptionFailed: (sessionId: string) => loader.load(failedMark(sessionId)),
    /** For a write that was rejected. Never rejects: if the store is down, the next rejected write marks the note. */
    markLocked: (noteId: string) =>
      keys.put({ [lockedMark(noteId)]: '' }, MARK_MS).catch(() => undefined),
  };
}
