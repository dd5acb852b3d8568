import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Answer } from '../answer.ts';
import type { LineageEngine, LineageStore, Link, LinkChange } from './lineage-store.ts';
import { CHILDREN_LIMIT } from './lineage-store.ts';
import { createPerTick } from './per-tick.ts';
import { createUnwrittenLinks } from './unwritten-links.ts';

const WRITE_DELAY_MS = 250;
const RETRY_DELAY_MS = 2_000;
const WRITE_BATCH = 500;
/** Links. More at once would be felt by whoever reads next. */
const MOST_TOLD = 2_000;
/** Children whose parents are remembered; some 200 bytes each. */
const REMEMBERED = 20_000;

export interface LineageMemory {
  /** How old a remembered answer may get where other instances write too. 0: nobody else writes. */
  readonly maxAgeMs: number;
}

interface KeptLinks extends Answer<readonly Link[]> {
  value: readonly Link[];
  valid: boolean;
}

const newestFirst = (links: readonly Link[]) => links.toSorted((a, b) => b.seenAt - a.seenAt);

/** The same links in the same order, none of them seen earlier than it was: whatever they proved they still prove. */
function isSeenAgain(before: readonly Link[], now: readonly Link[]): boolean {
  const [older, newer] = [newestFirst(before), newestFirst(now)];
  return (
    older.length === newer.length &&
    older.every(({ parent, seenAt }, i) => {
      const again = newer[i];
      return again?.parent === parent && again.seenAt >= seenAt;
    })
  );
}

/** The memory in front of an engine: remembers answers, gathers reads, writes behind. */
export function createLineage(engine: LineageEngine, { maxAgeMs }: LineageMemory): LineageStore {
  const remembered = new LRUCache<string, KeptLinks>({
    max: REMEMBERED,
    ttl: maxAgeMs,
    dispose: (links) => {
      links.valid = false;
    },
  });
  const unwritten = createUnwrittenLinks();
  /** Taken in when somebody reads or writes: recording must cost an answer next to nothing. */
  let told: Link[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  function apply(change: LinkChange) {
    unwritten.set(change);
    const before = remembered.get(change.child);
    if (before) renew(change.child, before);
  }

  function renew(child: string, before: KeptLinks) {
    const value = unwritten.over(child, before.value);
    if (isSeenAgain(before.value, value)) before.value = value;
    else remembered.set(child, { ...before, value, valid: true }, { noUpdateTTL: true });
  }

  function keep(child: string, value: readonly Link[]) {
    const expiresAt = maxAgeMs === 0 ? Infinity : performance.now() + maxAgeMs;
    remembered.set(child, { value, expiresAt, valid: true });
  }

  /** Before anything is read or written. */
  function takeIn() {
    if (told.length === 0) return;
    const links = told;
    told = [];
    for (const link of links) apply(link);
  }

  async function write() {
    takeIn();
    const changes = unwritten.begin();
    try {
      for (let at = 0; at < changes.length; at += WRITE_BATCH)
        await engine.write(changes.slice(at, at + WRITE_BATCH));
    } catch (error) {
      unwritten.end(false);
      throw error;
    }
    // A read answered just before this write may not have been looked at yet, and needs them.
    await setImmediate();
    unwritten.end(true);
  }

  const writeRound = () => (writing ??= write().finally(() => (writing = undefined)));

  function writeLater(delayMs: number) {
    if (told.length > 0 || unwritten.size > 0) timer ??= setTimeout(writeBehind, delayMs).unref();
  }

  function writeBehind() {
    timer = undefined;
    writeRound().then(
      () => writeLater(WRITE_DELAY_MS),
      () => writeLater(RETRY_DELAY_MS),
    );
  }

  const parentsOf = createPerTick(async (children) => {
    const answers = await engine.parentsOf(children);
    return children.map((child, index) => {
      const links = unwritten.over(child, answers[index] ?? []);
      // "Nothing known" is not remembered: the next moment another instance may learn it.
      if (links.length > 0 || maxAgeMs === 0) keep(child, links);
      return links;
    });
  });

  function kept(child: string): KeptLinks | undefined {
    takeIn();
    return remembered.get(child);
  }

  return {
    record(links) {
      told.push(...links);
      if (told.length > MOST_TOLD) takeIn();
      writeLater(WRITE_DELAY_MS);
    },
    remove(links) {
      takeIn();
      for (const { child, parent } of links) apply({ child, parent, isGone: true });
      writeLater(WRITE_DELAY_MS);
    },
    known: (child) => kept(child)?.value,
    kept,
    parentsOf: (children) =>
      Promise.all(children.map(async (child) => kept(child)?.value ?? parentsOf(child))),
    async childrenOf(parent, kind) {
      const children = await engine.childrenOf(parent, kind);
      takeIn();
      return unwritten.overChildren(parent, kind, children).slice(-CHILDREN_LIMIT);
    },
    async flush() {
      clearTimeout(timer);
      timer = undefined;
      while (writing || told.length > 0 || unwritten.size > 0) await writeRound();
    },
  };
}
