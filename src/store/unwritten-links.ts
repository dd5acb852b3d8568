import type { Link, LinkEnds } from './lineage-store.ts';

/** A link to write, or (without `link`) one to remove. */
export interface LinkChange extends LinkEnds {
  readonly link?: Link;
}

export interface UnwrittenLinks {
  readonly size: number;
  set(change: LinkChange): void;
  /** What the engine answered, with what it has not been told yet. */
  over(child: string, links: readonly Link[]): readonly Link[];
  overChildren(parent: string, kind: string, children: readonly string[]): readonly string[];
  /** So many, or a few more: the links of one child are taken together. */
  take(limit: number): readonly LinkChange[];
  /** Forgets what has been written, unless it has changed since it was taken. */
  written(changes: readonly LinkChange[]): void;
}

/** Past this the oldest are forgotten: they can be learnt again, memory can't. */
const MAX_CHANGES = 50_000;

/** An event tells that a link exists but not where: the page that a list told stays. */
export function joined(older: Link | undefined, newer: Link): Link {
  return newer.page === undefined && older?.page !== undefined
    ? { ...newer, page: older.page }
    : newer;
}

export function createUnwrittenLinks(): UnwrittenLinks {
  // Most children have one parent or two: looking through a short list is cheaper than a key for each link.
  const ofChild = new Map<string, LinkChange[]>();
  let size = 0;

  function forget(changes: LinkChange[], at: number, child: string) {
    size -= changes.splice(at, 1).length;
    if (changes.length === 0) ofChild.delete(child);
  }

  function giveUpOldest() {
    const [oldest] = ofChild;
    if (oldest) forget(oldest[1], 0, oldest[0]);
  }

  function set(change: LinkChange) {
    const changes = ofChild.get(change.child);
    if (!changes) ofChild.set(change.child, [change]);
    const at = changes?.findIndex(({ parent }) => parent === change.parent) ?? -1;
    const older = changes?.[at];
    if (changes && older) {
      const { link } = change;
      changes[at] = link ? { ...change, link: joined(older.link, link) } : change;
      return;
    }
    changes?.push(change);
    size += 1;
    if (size > MAX_CHANGES) giveUpOldest();
  }

  function over(child: string, links: readonly Link[]) {
    const changes = ofChild.get(child);
    if (!changes) return links;
    const merged = new Map(links.map((link) => [link.parent, link]));
    for (const { parent, link } of changes) {
      if (link) merged.set(parent, joined(merged.get(parent), link));
      else merged.delete(parent);
    }
    return [...merged.values()];
  }

  function overChildren(parent: string, kind: string, children: readonly string[]) {
    const merged = new Set(children);
    for (const [child, changes] of ofChild) {
      if (!child.startsWith(`${kind}:`)) continue;
      const change = changes.find((each) => each.parent === parent);
      if (change?.link) merged.add(child);
      else if (change) merged.delete(child);
    }
    return [...merged];
  }

  return {
    get size() {
      return size;
    },
    set,
    over,
    overChildren,
    take(limit) {
      const taken: LinkChange[] = [];
      for (const changes of ofChild.values()) {
        taken.push(...changes);
        if (taken.length >= limit) break;
      }
      return taken;
    },
    written(taken) {
      for (const change of taken) {
        const changes = ofChild.get(change.child);
        const at = changes?.indexOf(change) ?? -1;
        if (changes && at >= 0) forget(changes, at, change.child);
      }
    },
  };
}
