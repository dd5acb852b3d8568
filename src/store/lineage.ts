import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { LineageEngine, LineageStore, Link, LinkEnds } from './lineage-store.ts';
import { CHILDREN_LIMIT } from './lineage-store.ts';
import { createPerTick } from './per-tick.ts';
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

  function change(ends: LinkEnds, link?: Link) {
    unwritten.set({ child: ends.child, parent: ends.parent, ...(link && { link }) });
    const links = remembered.get(ends.child);
    if (links) remembered.set(ends.child, unwritten.over(ends.child, links), { noUpdateTTL: true });
    timer ??= setTimeout(writeBehind, WRITE_DELAY_MS).unref();
  }

  async function writeAll() {
    while (unwritten.size > 0) {
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
  }

  async function flush() {
    clearTimeout(timer);
    timer = undefined;
    // Whatever was recorded before this call is written when it resolves, also by a round under way:
    // a round goes on until nothing is left.
    writing ??= writeAll().finally(() => (writing = undefined));
    await writing;
  }

  function writeBehind() {
    flush().catch(() => {
      timer ??= setTimeout(writeBehind, RETRY_DELAY_MS).unref();
    });
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
    record: (links) => links.forEach((link) => change(link, link)),
    remove: (links) => links.forEach((ends) => change(ends)),
    parentsOf: (children) =>
      Promise.all(children.map(async (child) => remembered.get(child) ?? parentsOf(child))),
    async childrenOf(parent, kind) {
      const children = await engine.childrenOf(parent, kind);
      return unwritten.overChildren(parent, kind, children).slice(-CHILDREN_LIMIT);
    },
    flush,
  };
}
