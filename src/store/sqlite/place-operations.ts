import type { DatabaseSync } from 'node:sqlite';

import { GONE, MAX_PLACES, NO_PAGE, PLACES_KEPT_MS, type PlaceChange } from '../places.ts';

const SWEEP_BATCH = 1_000;

/** Where clients were last seen. */
export function placeOperations(db: DatabaseSync) {
  const put = db.prepare(
    `INSERT INTO place (client, list, page, seen_at) VALUES (:client, :list, :page, :now) ON CONFLICT (client, list)
     DO UPDATE SET page = iif(:page = ${NO_PAGE}, page, :page), seen_at = :now`,
  );
  const remove = db.prepare('DELETE FROM place WHERE client = ? AND list = ?');
  const read = db.prepare('SELECT list, page FROM place WHERE client = ?');
  const count = db.prepare('SELECT count(*) AS places FROM place');
  const trim = db.prepare(
    `DELETE FROM place WHERE (client, list) IN
     (SELECT client, list FROM place WHERE seen_at < ? ORDER BY seen_at LIMIT ${SWEEP_BATCH})`,
  );

  return {
    writePlaces(changes: readonly PlaceChange[], now: number): void {
      for (const { clientId: client, list, page } of changes) {
        if (page === GONE) remove.run(client, list);
        else put.run({ client, list, page, now });
      }
    },
    placesOf: (client: string) =>
      read.all(client).map((row) => ({ list: String(row['list']), page: Number(row['page']) })),
    /** Answers whether there may be more to remove. */
    trimPlaces(now: number): boolean {
      const isFull = Number(count.get()?.['places']) > MAX_PLACES;
      return Number(trim.run(isFull ? now : now - PLACES_KEPT_MS).changes) === SWEEP_BATCH;
    },
  };
}
