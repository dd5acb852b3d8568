import type { DatabaseSync } from 'node:sqlite';

import {
  CLOCK_TOLERANCE_MS,
  type LogBounds,
  MARK_MS,
  type NewEvent,
  type StoredEvent,
  dedupeWindowMs,
} from '../event-log.ts';
import { QUARANTINE_MAX_ENTRIES, type QuarantineEntry, type QuarantinedEntry } from '../store.ts';

const TRIM_BATCH = 500;

const rows = <Row>(found: readonly unknown[]) => found as Row[];
const numberIn = (row: object | undefined) => Number(Object.values(row ?? {})[0] ?? 0);

/** The worker's operations, by name. Writes run within its transaction. */
export function createOperations(db: DatabaseSync, retentionMs: number, clock: () => number) {
  const windowMs = dedupeWindowMs(retentionMs);
  const sql = db.createTagStore();

  /** The unique index of `seen` detects a copy. Entries older than the window count as absent. */
  function isNew({ key, time = '' }: NewEvent): boolean {
    const now = clock();
    const { changes } = sql.run`
      INSERT INTO seen VALUES (${key}, ${time}, ${now})
      ON CONFLICT DO UPDATE SET at = excluded.at WHERE at < ${now - windowMs}`;
    if (changes === 0) return false;
    if (time === '') return true;
    // For events of this key without a time.
    sql.run`INSERT OR REPLACE INTO seen VALUES (${key}, '', ${now})`;
    return true;
  }

  function add({ receivedAt, subject, body }: NewEvent): number {
    const { lastInsertRowid } = sql.run`INSERT INTO event (received_at, subject, body)
      VALUES (${receivedAt}, ${subject ?? null}, ${body})`;
    return Number(lastInsertRowid);
  }

  function valueOf(key: string): string | undefined {
    const row = sql.get`SELECT value FROM fact WHERE key = ${key} AND ends_at > ${clock()}`;
    return row?.['value'] as string | undefined;
  }

  const countQuarantined = () => numberIn(sql.get`SELECT count(*) FROM quarantine`);

  const reads = {
    bounds(): LogBounds {
      const newest = numberIn(sql.get`SELECT seq FROM sqlite_sequence WHERE name = 'event'`);
      const first = numberIn(sql.get`SELECT min(position) FROM event`);
      const epoch = String(sql.get`SELECT value FROM meta WHERE name = 'epoch'`?.['value']);
      return { epoch, oldest: first > 0 ? first - 1 : newest, newest };
    },
    eventsAfter: (position: number, limit: number) => ({
      oldest: reads.bounds().oldest,
      events: rows<StoredEvent>(sql.all`
        SELECT position, received_at AS receivedAt, body FROM event
        WHERE position > ${position} ORDER BY position LIMIT ${limit}`),
    }),
    eventsOfSubject: (subject: string, limit: number) =>
      rows<StoredEvent>(sql.all`
        SELECT position, received_at AS receivedAt, body FROM event
        WHERE subject = ${subject} ORDER BY position DESC LIMIT ${limit}`).toReversed(),
    get: (keys: readonly string[]) => keys.map(valueOf),
    quarantined: (limit: number, after = '0') =>
      rows<QuarantinedEntry>(sql.all`
        SELECT CAST(id AS TEXT) AS id, received_at AS receivedAt, reason, body FROM quarantine
        WHERE quarantine.id > CAST(${after} AS INTEGER) ORDER BY quarantine.id LIMIT ${limit}`),
    countQuarantined,
  };

  const writes = {
    /** The position of each event, 0 for a copy. */
    append: (events: readonly NewEvent[]) =>
      events.map((event) => {
        // With a copy, too: an earlier version stored the mark after the event.
        if (event.mark) writes.put({ [event.mark]: '' }, MARK_MS);
        return isNew(event) ? add(event) : 0;
      }),
    claim(key: string, value: string, ttlMs: number): string | undefined {
      const taken = valueOf(key);
      if (taken === undefined) writes.put({ [key]: value }, ttlMs);
      return taken;
    },
    put(values: Readonly<Record<string, string>>, ttlMs: number): void {
      for (const [key, value] of Object.entries(values))
        sql.run`INSERT OR REPLACE INTO fact VALUES (${key}, ${value}, ${clock() + ttlMs})`;
    },
    delete: (key: string, value: string): boolean =>
      sql.run`DELETE FROM fact WHERE key = ${key} AND value = ${value}`.changes === 1,
    quarantine({ receivedAt, reason, body }: QuarantineEntry): void {
      sql.run`INSERT INTO quarantine (received_at, reason, body)
        VALUES (${receivedAt}, ${reason}, ${body})`;
      const excess = Math.max(0, countQuarantined() - QUARANTINE_MAX_ENTRIES);
      sql.run`DELETE FROM quarantine WHERE id IN (
        SELECT id FROM quarantine ORDER BY id LIMIT ${excess})`;
    },
    removeQuarantined: (id: string) => void sql.run`DELETE FROM quarantine WHERE id = ${id}`,
    /** Removes some of what is past its time. Returns whether there may be more. */
    trim(): boolean {
      const now = clock();
      const removals = [
        // Only the oldest events are removed: the log has no holes.
        sql.run`DELETE FROM event WHERE position IN (
          WITH oldest AS (
            SELECT position, received_at FROM event ORDER BY position LIMIT ${TRIM_BATCH})
          SELECT position FROM oldest WHERE position < ifnull(
            (SELECT min(position) FROM oldest
             WHERE received_at BETWEEN ${now - retentionMs} AND ${now + CLOCK_TOLERANCE_MS}), 9e15))`,
        sql.run`DELETE FROM seen WHERE (key, time) IN (
          SELECT key, time FROM seen WHERE at < ${now - windowMs} ORDER BY at LIMIT ${TRIM_BATCH})`,
        sql.run`DELETE FROM fact WHERE key IN (
          SELECT key FROM fact WHERE ends_at <= ${now} LIMIT ${TRIM_BATCH})`,
      ];
      return removals.some(({ changes }) => changes === TRIM_BATCH);
    },
  };

  return { reads, writes };
}

export type Operations = ReturnType<typeof createOperations>;
/** A name and its arguments, as they cross to the worker. */
export type DbCall = readonly [name: string, ...args: readonly unknown[]];
