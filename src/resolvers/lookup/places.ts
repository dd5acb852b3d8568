import { LRUCache } from 'lru-cache';

import type { EventFacts } from '../../events/partner-event.ts';
import type { Page, Row } from '../../page.ts';
import type { ListRef } from '../../rest/lists.ts';
import { type KeyStore, runEvery } from '../../store/store.ts';
import { upTo } from '../../cache-limit.ts';
import type { Uuid } from '../../uuid.ts';

export type ClientList = ListRef<'clientsOfClinician' | 'clientsOfClinic'>;
export const clientsOfClinician = (id: Uuid): ClientList => ({ name: 'clientsOfClinician', id });
export const clientsOfClinic = (id: Uuid): ClientList => ({ name: 'clientsOfClinic', id });

/** Where a session's event says that its client is: the parent's id, by the name of the list. */
export const locationIn = (event: Readonly<Record<'clinicianId' | 'clinicId', Uuid>>) =>
  ({ clientsOfClinician: event.clinicianId, clientsOfClinic: event.clinicId }) as const;

const isClientList = (list: ListRef): list is ClientList =>
  list.name === 'clientsOfClinician' || list.name === 'clientsOfClinic';

const NO_PAGE = 0;
const GONE = -1;
/** The page of a client in each list, by the list's name and id. */
type Pages = Map<string, number>;

/** The places of a client that was not seen for this long are removed. */
const KEPT_MS = 30 * 24 * 3_600_000;
/** More lists than a client is in at a time. */
const MAX_LISTS = 16;
const WRITE_EVERY_MS = 250;
const WRITE_BATCH = 500;
const MAX_UNWRITTEN = 50_000;

export type Places = ReturnType<typeof createPlaces>;

/** The lists where clients were last seen. Never a reason to deny access: unknown places are looked up. */
export function createPlaces(keys: KeyStore) {
  /** Places that this process has recorded, by client: they are written at most once a day, unless they change. */
  const recent = new LRUCache<string, Pages>({ ...upTo(50_000), ttl: 24 * 3_600_000 });
  /** The places that have changed, by client. */
  const unwritten = new Map<string, Pages>();
  let written = Promise.resolve();

  function change(clientId: string, { name, id }: ClientList, page: number): void {
    const pages = recent.get(clientId) ?? new Map<string, number>();
    const list = `${name}:${id}`;
    const known = pages.get(list);
    // An event names only the list, so the recorded page stays.
    if (known === page || (page === NO_PAGE && known !== undefined && known > 0)) return;
    if (unwritten.size >= MAX_UNWRITTEN) return;
    // A look-up of a made-up id may go through every list.
    if (known === undefined && pages.size >= MAX_LISTS) pages.delete(pages.keys().next().value!);
    recent.set(clientId, pages.set(list, page));
    unwritten.set(clientId, pages);
  }

  async function writeChanged(): Promise<void> {
    while (unwritten.size > 0) {
      const changed = [...unwritten].slice(0, WRITE_BATCH);
      for (const [id] of changed) unwritten.delete(id);
      try {
        const stored = await keys.get(changed.map(([id]) => keyOf(id)));
        const values: Record<string, string> = {};
        changed.forEach(([id, known], at) => {
          const pages = merge(stored[at], known);
          // Nothing is stored for an id that no list holds: it may be made up.
          if (stored[at] || pages.length > 0) values[keyOf(id)] = JSON.stringify(pages);
        });
        // Another instance may write at the same time, and one of the two hints is lost.
        await keys.put(values, KEPT_MS, 'hint');
      } catch {
        // These places are dropped, and recorded again by the next page that is read.
        for (const [id] of changed) recent.delete(id);
      }
    }
  }
  /** One after another, so that closing waits for a write that has begun. */
  const write = () => (written = written.then(writeChanged));
  const writing = runEvery(WRITE_EVERY_MS, write);

  return {
    /** A page that has just been read. Written in the background: a crash may lose the last 250 ms. */
    record(list: ListRef, { rows, page }: Page<Row>): void {
      if (!isClientList(list)) return;
      // Page numbers of a filtered list are not those of the list itself.
      for (const row of rows) if (row) change(row.id, list, list.filter ? NO_PAGE : page);
    },
    recordEvent(event: EventFacts): void {
      if (!('sessionId' in event)) return;
      for (const [name, id] of Object.entries(locationIn(event)))
        change(event.clientId, { name, id } as ClientList, NO_PAGE);
    },
    /** The list does not hold the record, or not any more. */
    remove(list: ListRef, id: string): void {
      if (isClientList(list)) change(id, list, GONE);
    },
    /** The lists that held the client, with the page if it is known. Empty if none is, or the store can't be reached. */
    async of(clientId: string) {
      const [stored] = await keys.get([keyOf(clientId)]).catch(() => []);
      return merge(stored, recent.get(clientId)).map(([text, page]) => {
        const [name, id] = text.split(':');
        return { list: { name, id } as ClientList, page: page || undefined };
      });
    },
    async [Symbol.asyncDispose](): Promise<void> {
      writing[Symbol.dispose]();
      await write();
    },
  };
}

const keyOf = (clientId: string) => `places:${clientId}`;

/** The stored places, and what this process has recorded since. */
function merge(stored: string | null = null, recent: Pages = new Map()) {
  const pages: Pages = new Map(JSON.parse(stored ?? '[]') as [string, number][]);
  for (const [list, page] of recent) {
    if (page === GONE) pages.delete(list);
    else pages.set(list, page || (pages.get(list) ?? NO_PAGE));
  }
  return [...pages].slice(-MAX_LISTS);
}
