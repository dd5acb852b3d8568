import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';

import type { Loaded } from '../loaded.ts';
import { createLateWrites } from './late-writes.ts';
import type { KeyStore } from './store.ts';

/** A year is longer than any note is edited. */
const KEPT_MS = 365 * 24 * 3_600_000;

export type Milestones = ReturnType<typeof createMilestones>;

/** Locked notes and failed transcriptions, from events and rejected writes: the Partner API does not show them. */
export function createMilestones(keys: KeyStore) {
  // An event is not read from the log again, so what the store can't take is written later.
  const late = createLateWrites(keys, KEPT_MS);
  // Only positive results are cached: they are final, while a negative one may change any moment.
  const passed = new LRUCache<string, true>({ maxSize: 50_000, sizeCalculation: () => 1 });
  const loader = new DataLoader<string, boolean>(
    async (names) => (await keys.get(names)).map((value) => value !== undefined),
    { cache: false, maxBatchSize: 500 },
  );

  const has = (name: string): Loaded<boolean> => passed.has(name) || ask(name);
  const ask = async (name: string): Promise<boolean> => {
    const happened = await loader.load(name);
    if (happened) passed.set(name, true);
    return happened;
  };
  /** Never rejects. */
  const mark = async (name: string): Promise<void> => {
    if (passed.has(name)) return;
    await late.put(name, '1');
    passed.set(name, true);
  };

  return {
    noteLocked: (noteId: string) => has(`locked:${noteId}`),
    transcriptionFailed: (sessionId: string) => has(`failed:${sessionId}`),
    markLocked: (noteId: string) => mark(`locked:${noteId}`),
    markFailed: (sessionId: string) => mark(`failed:${sessionId}`),
    [Symbol.asyncDispose]: late[Symbol.asyncDispose],
  };
}
