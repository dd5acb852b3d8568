import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';

import type { Loaded } from '../loaded.ts';
import { inBackground } from './background.ts';
import type { KeyStore } from './store.ts';

/** Both states are permanent. A year is longer than any note is edited. */
const KEPT_MS = 365 * 24 * 3_600_000;
const MAX_UNWRITTEN = 10_000;
const WRITE_EVERY_MS = 1_000;

export type Milestones = ReturnType<typeof createMilestones>;

/** Locked notes and failed transcriptions, from events and rejected writes: the Partner API does not show them. */
export function createMilestones(keys: KeyStore) {
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
    await write([name]).catch(() => unwritten.set(name, true));
    passed.set(name, true);
  };
  const write = (names: readonly string[]) =>
    keys.put(Object.fromEntries(names.map((name) => [name, '1'])), KEPT_MS);
  /** What the store could not take. Its event is not read from the log again. */
  const unwritten = new LRUCache<string, true>({ max: MAX_UNWRITTEN });
  async function writeLate(): Promise<void> {
    const names = [...unwritten.keys()];
    if (names.length > 0) await write(names);
    for (const name of names) unwritten.delete(name);
  }
  const writing = inBackground(WRITE_EVERY_MS, writeLate, () => {});

  return {
    noteLocked: (noteId: string) => has(`locked:${noteId}`),
    transcriptionFailed: (sessionId: string) => has(`failed:${sessionId}`),
    markLocked: (noteId: string) => mark(`locked:${noteId}`),
    markFailed: (sessionId: string) => mark(`failed:${sessionId}`),
    async [Symbol.asyncDispose](): Promise<void> {
      writing[Symbol.dispose]();
      await writeLate().catch(() => undefined);
    },
  };
}
