import type { DatabaseSync, StatementSync } from 'node:sqlite';

import {
  CLOCK_TOLERANCE_MS,
  type LogBounds,
  type NewEvent,
  type StoredEvent,
  TIMES_KEPT,
  dedupeWindowMs,
} from '../event-log.ts';
import { GONE, MAX_PLACES, NO_PAGE, PLACES_KEPT_MS, type PlaceChange } from '../places.ts';
import { QUARANTINE_MAX_ENTRIES, type QuarantineEntry, type QuarantinedEntry } from '../store.ts';

const TRIM_BATCH = 500;

/** The worker's operations, by name. Writes run within its transaction. */
export function createOperations(db: DatabaseSync, retentionMs: number, clock: () => number) {
  const statements = new Map<string, StatementSync>();
  function sql(text: string): StatementSync {
    const statement = statements.get(text) ?? db.prepare(text);
    statements.set(text, statement);
    return statement;
  }
  const windowMs = dedupeWindowMs(retentionMs);

  /** The unique index of `seen` detects a copy. Entries older than the window count as absent. */
  function isNew({ key, time = '' }: NewEvent): boolean {
    const now = clock();
    const accepted = sql(
      `INSERT INTO seen VALUES (?1, ?2, ?3)
       ON CONFLICT DO UPDATE SET at = excluded.at WHERE at < ?4`,
    ).run(key, time, now, now - windowMs);
    if (accepted.changes === 0) return false;
    if (time === '') return true;
    // For events of this key without a time.
    sql("INSERT OR REPLACE INTO seen VALUES (?, '', ?)").run(key, now);
    sql(
      `DELETE FROM seen WHERE key = ?1 AND time IN (SELECT time FROM seen
       WHERE key = ?1 AND time <> '' ORDER BY at DESC, time DESC LIMIT -1 OFFSET ${TIMES_KEPT})`,
    ).run(key);
    return true;
  }

  const add = ({ receivedAt, subject, body }: NewEvent): number =>
    Number(
      sql('INSERT INTO event (received_at, subject, body) VALUES (?, ?, ?)').run(
        Math.round(receivedAt),
        subject ?? null,
        body,
      ).lastInsertRowid,
    );

  const factOf = (key: string): string | undefined => {
    const row = sql('SELECT value FROM fact WHERE key = ? AND ends_at > ?').get(key, clock());
    return row && String(row['value']);
  };

  const numberOf = (text: string): number => Number(Object.values(sql(text).get() ?? {})[0] ?? 0);
  const quarantined = () => numberOf('SELECT count(*) FROM quarantine');

  const reads = {
    bounds(): LogBounds {
      const newest = numberOf("SELECT seq FROM sqlite_sequence WHERE name = 'event'");
      const first = numberOf('SELECT min(position) FROM event');
      const epoch = String(sql("SELECT value FROM meta WHERE name = 'epoch'").get()?.['value']);
      return { epoch, oldest: first > 0 ? first - 1 : newest, newest };
    },
    eventsAfter: (position: number, limit: number) =>
      sql(
        `SELECT position, received_at AS receivedAt, body FROM event
         WHERE position > ? ORDER BY position LIMIT ?`,
      ).all(position, limit) as unknown as StoredEvent[],
    eventsOfSubject: (subject: string, limit: number) =>
      sql(
        `SELECT position, received_at AS receivedAt, body FROM event
         WHERE subject = ? ORDER BY position DESC LIMIT ?`,
      )
        .all(subject, limit)
        .toReversed() as unknown as StoredEvent[],
    facts: (keys: readonly string[]) => keys.map(factOf),
    quarantined: (limit: number) =>
      sql(
        `SELECT CAST(id AS TEXT) AS id, received_at AS receivedAt, reason, body FROM quarantine
         ORDER BY quarantine.id LIMIT ?`,
      ).all(limit) as unknown as QuarantinedEntry[],
    countQuarantined: quarantined,
    placesOf: (client: string) =>
      sql('SELECT list, page FROM place WHERE client = ?').all(client) as unknown as {
        readonly list: string;
        readonly page: number;
      }[],
  };

  const writes = {
    /** The position of each event, 0 for a copy. */
    append: (events: readonly NewEvent[]) => events.map((event) => (isNew(event) ? add(event) : 0)),
    claim(key: string, value: string, ttlMs: number): string | undefined {
      const taken = factOf(key);
      if (taken === undefined) writes.putFact(key, value, ttlMs);
      return taken;
    },
    putFact: (key: string, value: string, ttlMs: number) =>
      void sql('INSERT OR REPLACE INTO fact VALUES (?, ?, ?)').run(key, value, clock() + ttlMs),
    deleteFact: (key: string) => void sql('DELETE FROM fact WHERE key = ?').run(key),
    quarantine({ receivedAt, reason, body }: QuarantineEntry): void {
      sql('INSERT INTO quarantine (received_at, reason, body) VALUES (?, ?, ?)').run(
        receivedAt,
        reason,
        body,
      );
      sql('DELETE FROM quarantine WHERE id IN (SELECT id FROM quarantine ORDER BY id LIMIT ?)').run(
        Math.max(0, quarantined() - QUARANTINE_MAX_ENTRIES),
      );
    },
    removeQuarantined: (id: string) => void sql('DELETE FROM quarantine WHERE id = ?').run(id),
    writePlaces(changes: readonly PlaceChange[]): void {
      for (const { clientId, list, page } of changes) {
        if (page === GONE)
          sql('DELETE FROM place WHERE client = ? AND list = ?').run(clientId, list);
        else
          sql(
            `INSERT INTO place VALUES (?1, ?2, ?3, ?4) ON CONFLICT (client, list)
             DO UPDATE SET page = iif(?3 = ${NO_PAGE}, page, ?3), seen_at = ?4`,
          ).run(clientId, list, page, clock());
      }
    },
    touch: () => void sql("INSERT OR REPLACE INTO meta VALUES ('checked', ?)").run(`${clock()}`),
    /** Removes some expired rows, one table after the other. Returns whether there may be more. */
    trim(): boolean {
      const now = clock();
      const steps = [
        // Only the oldest events are removed: the log has no holes.
        () =>
          sql(
            `DELETE FROM event WHERE position IN (
               WITH oldest AS (SELECT position, received_at FROM event ORDER BY position LIMIT ${TRIM_BATCH})
               SELECT position FROM oldest WHERE position < ifnull(
                 (SELECT min(position) FROM oldest WHERE received_at BETWEEN ? AND ?), 9e15))`,
          ).run(now - retentionMs, now + CLOCK_TOLERANCE_MS),
        () =>
          sql(
            `DELETE FROM seen WHERE (key, time) IN
             (SELECT key, time FROM seen WHERE at < ? ORDER BY at LIMIT ${TRIM_BATCH})`,
          ).run(now - windowMs),
        () =>
          sql(
            `DELETE FROM fact WHERE key IN
             (SELECT key FROM fact WHERE ends_at <= ? LIMIT ${TRIM_BATCH})`,
          ).run(now),
        () =>
          sql(
            `DELETE FROM place WHERE (client, list) IN
             (SELECT client, list FROM place WHERE seen_at < ? ORDER BY seen_at LIMIT ${TRIM_BATCH})`,
          ).run(numberOf('SELECT count(*) FROM place') > MAX_PLACES ? now : now - PLACES_KEPT_MS),
      ];
      return steps.some((step) => Number(step().changes) === TRIM_BATCH);
    },
  };

  return { reads, writes };
}

export type Operations = ReturnType<typeof createOperations>;
/** A name and its arguments, as they cross to the worker. */
export type DbCall = readonly [name: string, ...args: readonly unknown[]];
