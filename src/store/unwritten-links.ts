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
  take(limit: number): readonly LinkChange[];
  /** Forgets what has been written, unless it has changed since it was taken. */
  written(changes: readonly LinkChange[]): void;
}

/** Past this the oldest are forgotten: they can be learnt again, memory can't. */
const MAX_CHANGES = 50_000;

const idOf = ({ child, parent }: LinkEnds) => `${child}\n${parent}`;

/** An event tells that a link exists but not where: the page that a list told stays. */
export function joined(older: Link | undefined, newer: Link): Link {
  return newer.page === undefined && older?.page !== undefined
    ? { ...newer, page: older.page }
    : newer;
}

export function createUnwrittenLinks(): UnwrittenLinks {
  const changes = new Map<string, LinkChange>();
  const ofChild = new Map<string, Set<string>>();

  function forget(id: string, change: LinkChange) {
    changes.delete(id);
    const ids = ofChild.get(change.child);
    ids?.delete(id);
    if (ids?.size === 0) ofChild.delete(change.child);
  }

  function set(change: LinkChange) {
    const id = idOf(change);
    const older = changes.get(id);
    changes.set(id, change.link ? { ...change, link: joined(older?.link, change.link) } : change);
    const ids = ofChild.get(change.child) ?? new Set();
    ofChild.set(change.child, ids.add(id));
    const [oldest] = changes.size > MAX_CHANGES ? changes : [];
    if (oldest) forget(...oldest);
  }

  function over(child: string, links: readonly Link[]) {
    const ids = ofChild.get(child);
    if (!ids) return links;
    const merged = new Map(links.map((link) => [link.parent, link]));
    for (const id of ids) {
      const { parent, link } = changes.get(id) ?? { parent: '' };
      if (link) merged.set(parent, joined(merged.get(parent), link));
      else merged.delete(parent);
    }
    return [...merged.values()];
  }

  function overChildren(parent: string, kind: string, children: readonly string[]) {
    const merged = new Set(children);
    for (const change of changes.values()) {
      if (change.parent !== parent || !change.child.startsWith(`${kind}:`)) continue;
      if (change.link) merged.add(change.child);
      else merged.delete(change.child);
    }
    return [...merged];
  }

  return {
    get size() {
      return changes.size;
    },
    set,
    over,
    overChildren,
    take(limit) {
      const taken: LinkChange[] = [];
      for (const change of changes.values()) {
        if (taken.push(change) === limit) break;
      }
      return taken;
    },
    written(taken) {
      for (const change of taken) {
        const id = idOf(change);
        if (changes.get(id) === change) forget(id, change);
      }
    },
  };
}
