import { LRUCache } from 'lru-cache';

import type { EventFacts } from '../../events/partner-event.ts';
import { type Page, type Row, firstOffsetOf } from '../../page.ts';
import { type ListName, type ListRef, cachePathOf } from '../../rest/lists.ts';
import { upTo } from '../../cache-limit.ts';
import { locationIn } from '../lookup/places.ts';
import { LISTS } from '../refs.ts';

/** How long a page proves who is in its list, since clients and clinicians move. */
const PROOF_MS = 60_000;

/** More than a client's events name within a minute. */
const MAX_LOCATIONS = 4;

/** Where an event says that a client is: the parent's id for each list, by the list's name, and when the event came. */
type EventLocation = Readonly<Partial<Record<ListName, string>> & { at: number }>;

interface RecentList {
  /** When the row was last read, and on which page: 0 if only a filtered list had it. */
  readonly rows: Map<string, { readonly at: number; readonly page: number }>;
  /** When each page was last read, or found to be past the end. */
  readonly pages: Map<number, number>;
  /** When the whole list was last read, and how long it was. */
  fullScan?: { readonly at: number; readonly total: number };
}

/** A filter does not change whose list it is. */
const pathOf = ({ name, id }: ListRef): string => cachePathOf({ name, id });

/** Who was in which list, on pages that this process read within the last minute: the proof of access, and of absence. */
export type RecentLists = ReturnType<typeof createRecentLists>;

export function createRecentLists(now: () => number) {
  /** By path. The size is in rows; a list itself takes as much as ten. */
  const lists = new LRUCache<string, RecentList>({ maxSize: 200_000 });
  /** Where a client's last events said they were, the newest first. They come in any order, so all of them count. */
  const locations = new LRUCache<string, readonly EventLocation[]>(upTo(50_000));
  /** By path of a list: when it may last have changed, on any instance. Under the empty path: any list. */
  const changed = new LRUCache<string, number>(upTo(50_000));
  /** When an assessment of each client last came: such an event names no list. */
  const assessed = new LRUCache<string, number>(upTo(50_000));

  const locationsOf = (client: string) => locations.get(client) ?? [];

  /** When an event last named another clinician or clinic since then, or 0: the client may have left this list. */
  const movedAwayAt = ({ name, id }: ListRef, client: string, since: number): number =>
    locationsOf(client).find((event) => event.at >= since && (event[name] ?? id) !== id)?.at ?? 0;

  /** When the row was last read; undefined if its page was read later without it, since it may have left the list. */
  function readAt(list: ListRef, id: string): number | undefined {
    const { rows, pages } = lists.get(pathOf(list)) ?? {};
    const { at = -Infinity, page = 0 } = rows?.get(id) ?? {};
    return at >= (pages?.get(page) ?? 0) ? at : undefined;
  }

  return {
    now,
    /** The whole unfiltered list was read, beginning at that time. */
    recordFullScan(list: ListRef, total: number, at: number): void {
      const known = lists.get(pathOf(list));
      if (known && !list.filter) known.fullScan = { at, total };
    },
    /** A row may have been added to this list; without a path, any may have changed. A scan that began earlier may end later. */
    recordChange: (path = ''): void => void changed.set(path, now()),
    /** True if the list was fully scanned within the last minute without the record, and is as long as it was then. */
    isAbsent(list: ListRef, id: string, total: number): boolean {
      const { rows, fullScan: read } = lists.get(pathOf(list)) ?? {};
      if (!rows || read?.total !== total || read.at + PROOF_MS <= now()) return false;
      if ([pathOf(list), ''].some((path) => (changed.get(path) ?? 0) >= read.at)) return false;
      // With fewer rows than the list has, some are not known. A later event that names the record may follow a move.
      if (rows.size < total || rows.has(id)) return false;
      return locationsOf(id).every(({ at }) => at < read.at);
    },
    /** A page that has just been read. It shows the list as it was when the call began. */
    record(list: ListRef, { rows, total, page, requestedAt: at = now() }: Page<Row>): void {
      if (!('proves' in LISTS[list.name])) return;
      const path = pathOf(list);
      const known: RecentList = lists.get(path) ?? { rows: new Map(), pages: new Map() };
      // A later call may have been answered earlier: its times stay.
      if (!list.filter) {
        // Any page has the list's length, and so shows which pages are past the end.
        const pastEnd = [...known.pages.keys()].filter((each) => firstOffsetOf(each) >= total);
        for (const each of [page, ...pastEnd])
          known.pages.set(each, Math.max(at, known.pages.get(each) ?? at));
      }
      for (const row of rows) {
        const last = row && known.rows.get(row.id);
        if (!row || (last && last.at > at)) continue;
        // The page of a filtered list is not that of the list itself.
        known.rows.set(row.id, { at, page: list.filter ? (last?.page ?? 0) : page });
      }
      // Removed first: lru-cache keeps the size of a value that is set again.
      lists.delete(path);
      lists.set(path, known, { size: known.rows.size + 10 });
    },
    /** True if a recent page has the record. If false, the list has to be read. */
    proves(list: ListRef, id: string): boolean {
      const at = readAt(list, id);
      if (at === undefined || at + PROOF_MS <= now() || at <= (changed.get('') ?? 0)) return false;
      return movedAwayAt(list, id, at) === 0;
    },
    /** When any page, also of a filter, last had the row; 0 if none is known. */
    lastReadAt: (list: ListRef, id: string): number =>
      lists.get(pathOf(list))?.rows.get(id)?.at ?? 0,
    /** When an event last contradicted the pages that were read, or 0: the record is not where it was, or is there now. */
    contradictedAt(list: ListRef, id: string): number {
      const at = readAt(list, id);
      if (at !== undefined) return movedAwayAt(list, id, at);
      return locationsOf(id).find((event) => list.id && event[list.name] === list.id)?.at ?? 0;
    },
    /** The rows of a list that were read, of any age. */
    idsIn: (list: ListRef): Iterable<string> => lists.get(pathOf(list))?.rows.keys() ?? [],
    /** The list was read and does not hold the record. */
    remove: (list: ListRef, id: string): void => void lists.get(pathOf(list))?.rows.delete(id),
    /** Records who treats the client, as a signed event says. It proves nothing, but may contradict a list. */
    recordEvent(event: EventFacts): void {
      if (!('sessionId' in event)) return void assessed.set(event.clientId, now());
      const location = { at: now(), ...locationIn(event) };
      const isOther = ({ clientsOfClinician, clientsOfClinic }: EventLocation) =>
        clientsOfClinician !== location.clientsOfClinician ||
        clientsOfClinic !== location.clientsOfClinic;
      const others = locationsOf(event.clientId).filter(isOther);
      locations.set(event.clientId, [location, ...others].slice(0, MAX_LOCATIONS));
    },
    /** 0 if this process has not seen one. */
    assessedAt: (clientId: string): number => assessed.get(clientId) ?? 0,
  };
}
