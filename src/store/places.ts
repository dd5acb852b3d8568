import { LRUCache } from 'lru-cache';

import { inBackground } from './background.ts';

/** A list that held a client, and on which page. A hint where to look first, and no proof. */
export interface Place {
  readonly kind: 'clinic' | 'clinician';
  readonly id: string;
  readonly page?: number | undefined;
}

export interface ListPage {
  /** `clinic:<uuid>` or `clinician:<uuid>`. */
  readonly list: string;
  /** 0 is an unknown page, -1 a place to remove. */
  readonly page: number;
}

export interface PlaceChange extends ListPage {
  readonly clientId: string;
}

export interface PlaceEngine {
  write(changes: readonly PlaceChange[]): Promise<void>;
  read(clientId: string): Promise<readonly ListPage[]>;
}

export const NO_PAGE = 0;
export const GONE = -1;
/** A place unseen for this long is removed. */
export const PLACES_KEPT_MS = 30 * 24 * 3_600_000;
export const MAX_PLACES = 1_000_000;

const WRITE_EVERY_MS = 250;
const WRITE_BATCH = 500;
const MAX_UNWRITTEN = 50_000;
/** Clients whose places this process has recorded: lists are read over and over, and written once a day. */
const MAX_RECENT = 50_000;
const RECENT_MS = 24 * 3_600_000;

export type Places = ReturnType<typeof createPlaces>;

/** Where clients were last seen. Bounded, and never the reason for a refusal: what is not known is looked up. */
export function createPlaces(engine: PlaceEngine) {
  /** By client, the page in each list. */
  const recent = new LRUCache<string, Map<string, number>>({
    maxSize: MAX_RECENT,
    sizeCalculation: () => 1,
    ttl: RECENT_MS,
  });
  const unwritten: PlaceChange[] = [];

  function change(clientId: string, { kind, id }: Omit<Place, 'page'>, page: number): void {
    const list = `${kind}:${id}`;
    const pages = recent.get(clientId) ?? new Map<string, number>();
    const known = pages.get(list);
    // An event knows the list alone: the page that was seen stays.
    if (known === page || (page === NO_PAGE && known !== undefined && known > 0)) return;
    if (unwritten.length >= MAX_UNWRITTEN) return;
    if (!known) recent.set(clientId, pages);
    pages.set(list, page);
    unwritten.push({ clientId, list, page });
  }

  async function write(): Promise<void> {
    while (unwritten.length > 0) {
      const changes = unwritten.splice(0, WRITE_BATCH);
      try {
        await engine.write(changes);
      } catch {
        // Dropped, and recorded anew by the next page that is read.
        for (const { clientId } of changes) recent.delete(clientId);
      }
    }
  }
  const writing = inBackground(WRITE_EVERY_MS, write, () => {});

  return {
    /** Written in the background: a crash may lose the last moments, no more. */
    record: (clientId: string, place: Place) => change(clientId, place, place.page ?? NO_PAGE),
    /** The list does not hold the client any more. */
    forget: (clientId: string, place: Omit<Place, 'page'>) => change(clientId, place, GONE),
    /** Pages before whole lists; empty where nothing is known, or the store can't be reached. */
    async of(clientId: string): Promise<readonly Place[]> {
      const stored = await engine.read(clientId).catch(() => []);
      const pages = new Map(stored.map(({ list, page }) => [list, page]));
      for (const [list, page] of recent.get(clientId) ?? []) pages.set(list, page);
      return [...pages]
        .filter(([, page]) => page !== GONE)
        .map(([list, page]): Place => {
          const [kind, id = ''] = list.split(':');
          return { kind: kind === 'clinic' ? 'clinic' : 'clinician', id, page: page || undefined };
        })
        .toSorted((a, b) => cost(a) - cost(b));
    },
    async close(): Promise<void> {
      writing[Symbol.dispose]();
      await write();
    },
  };
}

/** A clinician has fewer clients than a clinic. */
const cost = ({ kind, page }: Place): number =>
  (page === undefined ? 2 : 0) + (kind === 'clinic' ? 1 : 0);
