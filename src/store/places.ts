import { setImmediate } from 'node:timers/promises';

import { LRUCache } from 'lru-cache';

/** A list that held a client, and on which page. A hint where to look first, and no proof. */
export interface Place {
  readonly kind: 'clinic' | 'clinician';
  readonly id: string;
  readonly page?: number | undefined;
}

/** Where clients were last seen. Bounded, and never the reason for a refusal: what is not known is looked up. */
export interface Places {
  /** Written in the background: a crash may lose the last moments, no more. */
  record(clientId: string, place: Place): void;
  /** The list does not hold the client any more. */
  forget(clientId: string, place: Place): void;
  /** Pages before whole lists; empty where nothing is known, or the store can't be reached. */
  of(clientId: string): Promise<readonly Place[]>;
  flush(): Promise<void>;
}

/** `page` 0 is an unknown page, -1 a place to remove. */
export interface PlaceChange {
  readonly clientId: string;
  /** `clinic:<uuid>` or `clinician:<uuid>`. */
  readonly list: string;
  readonly page: number;
}

export interface PlaceEngine {
  write(changes: readonly PlaceChange[]): Promise<void>;
  read(clientId: string): Promise<readonly { readonly list: string; readonly page: number }[]>;
}

export const NO_PAGE = 0;
export const GONE = -1;
/** A place unseen for this long is removed. */
export const PLACES_KEPT_MS = 30 * 24 * 3_600_000;
export const MAX_PLACES = 1_000_000;

const WRITE_DELAY_MS = 250;
const RETRY_DELAY_MS = 2_000;
const WRITE_BATCH = 500;
const MAX_UNWRITTEN = 50_000;
/** What was written not long ago is not written again: lists are read over and over. */
const MAX_WRITTEN = 50_000;
const WRITTEN_MS = 24 * 3_600_000;

export function createPlaces(engine: PlaceEngine): Places {
  const written = new LRUCache<string, number>({ max: MAX_WRITTEN, ttl: WRITTEN_MS });
  let unwritten = new Map<string, PlaceChange>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  function change(clientId: string, { kind, id }: Place, page: number): void {
    const list = `${kind}:${id}`;
    const key = `${clientId} ${list}`;
    const known = written.get(key);
    // An event knows the list alone: the page that was seen stays.
    if (known === page || (page === NO_PAGE && known !== undefined && known > 0)) return;
    if (unwritten.size >= MAX_UNWRITTEN) return;
    written.set(key, page);
    unwritten.set(key, { clientId, list, page });
    timer ??= setTimeout(writeLater, WRITE_DELAY_MS).unref();
  }

  async function write(): Promise<void> {
    const changes = [...unwritten.values()];
    unwritten = new Map();
    for (let at = 0; at < changes.length; at += WRITE_BATCH) {
      const batch = changes.slice(at, at + WRITE_BATCH);
      try {
        await engine.write(batch);
      } catch (error) {
        for (const { clientId, list } of changes.slice(at)) written.delete(`${clientId} ${list}`);
        throw error;
      }
      await setImmediate();
    }
  }

  /** What can't be written is dropped: the next page that is read brings it back. */
  function writeLater(): void {
    timer = undefined;
    writing = write()
      .catch(() => {
        timer ??= setTimeout(writeLater, RETRY_DELAY_MS).unref();
      })
      .finally(() => (writing = undefined));
  }

  return {
    record: (clientId, place) => change(clientId, place, place.page ?? NO_PAGE),
    forget: (clientId, place) => change(clientId, place, GONE),
    async of(clientId) {
      const rows = await engine.read(clientId).catch(() => []);
      return rows
        .map(({ list, page }): Place => {
          const [kind, id = ''] = list.split(':');
          return { kind: kind === 'clinic' ? 'clinic' : 'clinician', id, page: page || undefined };
        })
        .toSorted((a, b) => cost(a) - cost(b));
    },
    async flush() {
      clearTimeout(timer);
      timer = undefined;
      await writing;
      await write();
    },
  };
}

/** A clinician has fewer clients than a clinic. */
const cost = ({ kind, page }: Place): number =>
  (page === undefined ? 2 : 0) + (kind === 'clinic' ? 1 : 0);
