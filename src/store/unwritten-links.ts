import type { Link, LinkChange } from './lineage-store.ts';
import { isGone } from './lineage-store.ts';

/** Changes that the engine has not been told yet, or is being told just now. */
export interface UnwrittenLinks {
  /** Of those that no write has begun with. */
  readonly size: number;
  set(change: LinkChange): void;
  /** What the engine answered, with what it has not been told yet. */
  over(child: string, links: readonly Link[]): readonly Link[];
  overChildren(parent: string, kind: string, children: readonly string[]): readonly string[];
  /** All there are: they stay over what the engine answers until `end`. One write at a time. */
  begin(): readonly LinkChange[];
  /** Those that were not written wait on, unless they have changed meanwhile. */
  end(areWritten: boolean): void;
}

/** By child. Most have one parent or two: looking through a short list is cheaper than a key for each link. */
type Changes = Map<string, LinkChange[]>;

/** Past this, beside as many that are being written, the oldest are forgotten: they can be learnt again, memory can't. */
const MAX_CHANGES = 50_000;

/** An event tells that a link exists but not where: the page that a list told stays. */
function joined(older: LinkChange | undefined, newer: Link): Link {
  if (newer.page !== undefined || !older || isGone(older) || older.page === undefined) return newer;
  return { ...newer, page: older.page };
}

export function createUnwrittenLinks(): UnwrittenLinks {
  let recent: Changes = new Map();
  let underway: Changes = new Map();
  let size = 0;

  function giveUpOldest() {
    const [oldest] = recent;
    if (!oldest) return;
    const [child, changes] = oldest;
    changes.shift();
    size -= 1;
    if (changes.length === 0) recent.delete(child);
  }

  function set(change: LinkChange) {
    const changes = recent.get(change.child);
    if (!changes) recent.set(change.child, [change]);
    const at = changes?.findIndex(({ parent }) => parent === change.parent) ?? -1;
    if (changes && at >= 0) {
      changes[at] = isGone(change) ? change : joined(changes[at], change);
      return;
    }
    changes?.push(change);
    size += 1;
    if (size > MAX_CHANGES) giveUpOldest();
  }

  function over(child: string, links: readonly Link[]) {
    const changes = [...(underway.get(child) ?? []), ...(recent.get(child) ?? [])];
    if (changes.length === 0) return links;
    const merged = new Map(links.map((link) => [link.parent, link]));
    for (const change of changes) {
      if (isGone(change)) merged.delete(change.parent);
      else merged.set(change.parent, joined(merged.get(change.parent), change));
    }
    return [...merged.values()];
  }

  function overChildren(parent: string, kind: string, children: readonly string[]) {
    const merged = new Set(children);
    for (const [child, changes] of [...underway, ...recent]) {
      if (!child.startsWith(`${kind}:`)) continue;
      const change = changes.find((each) => each.parent === parent);
      if (change && isGone(change)) merged.delete(child);
      else if (change) merged.add(child);
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
    begin() {
      [underway, recent, size] = [recent, new Map(), 0];
      return [...underway.values()].flat();
    },
    end(areWritten) {
      const [unwritten, newer] = [areWritten ? [] : [...underway.values()].flat(), recent];
      underway = new Map();
      if (unwritten.length === 0) return;
      [recent, size] = [new Map(), 0];
      for (const change of [...unwritten, ...[...newer.values()].flat()]) set(change);
    },
  };
}
