import { LRUCache } from 'lru-cache';

import { inBackground } from './background.ts';

/** A list that held a client, and the page. A hint where to look first, not proof. */
interface Place {
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
/** A place that was not seen for this long is removed. */
export const PLACES_KEPT_MS = 30 * 24 * 3_600_000;
export const MAX_PLACES = 1_000_000;

const WRITE_EVERY_MS = 250;
const WRITE_BATCH = 500;
const MAX_UNWRITTEN = 50_000;
/** Clients whose places this process has recorded: a place is written at most once a day. */
const MAX_RECENT = 50_000;
const RECENT_MS = 24 * 3_600_000;

export type Places = ReturnType<typeof createPlaces>;

/** The lists where clients were last seen. Never a reason to deny access: unknown places are looked up. */
export function createPlaces(engine: PlaceEngine) {
  /** The page of a client in each list. */
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
    // An event names only the list, so the recorded page stays.
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
        // These places are dropped, and recorded again by the next page that is read.
        for (const { clientId } of changes) recent.delete(clientId);
      }
    }
  }
  const writing = inBackground(WRITE_EVERY_MS, write, () => {});

  return {
    /** Written in the background: a crash may lose the last 250 ms. */
    record: (clientId: string, place: Place) => change(clientId, place, place.page ?? NO_PAGE),
    /** The list does not hold the client any more. */
    remove: (clientId: string, place: Omit<Place, 'page'>) => change(clientId, place, GONE),
    /** Places with a page first. Empty if none is known, or the store can't be reached. */
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
