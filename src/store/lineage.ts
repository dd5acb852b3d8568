import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { LineageEngine, LineageStore, Link } from './lineage-store.ts';
import { CHILDREN_LIMIT } from './lineage-store.ts';
import { createPerTick } from './per-tick.ts';
import type { LinkChange } from './unwritten-links.ts';
import { createUnwrittenLinks } from './unwritten-links.ts';

const WRITE_DELAY_MS = 250;
const RETRY_DELAY_MS = 2_000;
const WRITE_BATCH = 500;
/** Children whose parents are remembered; some 200 bytes each. */
const REMEMBERED = 20_000;

export interface LineageMemory {
  /** How old a remembered answer may get where other instances write too. 0: nobody else writes. */
  readonly maxAgeMs: number;
}

/** The memory in front of an engine: remembers answers, gathers reads, writes behind. */
export function createLineage(engine: LineageEngine, { maxAgeMs }: LineageMemory): LineageStore {
  const remembered = new LRUCache<string, readonly Link[]>({ max: REMEMBERED, ttl: maxAgeMs });
  const unwritten = createUnwrittenLinks();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  function apply(change: LinkChange) {
    unwritten.set(change);
    const links = remembered.get(change.child);
    if (links)
      remembered.set(change.child, unwritten.over(change.child, links), { noUpdateTTL: true });
    writeLater(WRITE_DELAY_MS);
  }

  async function writeBatch() {
    const changes = unwritten.take(WRITE_BATCH);
    const links = changes.flatMap(({ link }) => link ?? []);
    await engine.write(
      links,
      changes.filter(({ link }) => !link),
    );
    // A read answered just before this write may not have been looked at yet, and needs them.
    await setImmediate();
    unwritten.written(changes);
  }

  /** Leaves less than a batch to the next round: a few links at a time cost the engine far more. */
  async function writeBatches() {
    do await writeBatch();
    while (unwritten.size >= WRITE_BATCH);
  }

  const writeRound = () => (writing ??= writeBatches().finally(() => (writing = undefined)));

  function writeLater(delayMs: number) {
    if (unwritten.size > 0) timer ??= setTimeout(writeBehind, delayMs).unref();
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
      if (links.length > 0 || maxAgeMs === 0) remembered.set(child, links);
      return links;
    });
  });

  return {
    record(links) {
      for (const link of links) apply({ child: link.child, parent: link.parent, link });
    },
    remove(links) {
      for (const { child, parent } of links) apply({ child, parent });
    },
    known: (child) => remembered.get(child),
    parentsOf: (children) =>
      Promise.all(children.map(async (child) => remembered.get(child) ?? parentsOf(child))),
    async childrenOf(parent, kind) {
      const children = await engine.childrenOf(parent, kind);
      return unwritten.overChildren(parent, kind, children).slice(-CHILDREN_LIMIT);
    },
    async flush() {
      clearTimeout(timer);
      timer = undefined;
      while (unwritten.size > 0) await writeRound();
    },
  };
}
