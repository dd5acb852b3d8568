import { parentPort, workerData } from 'node:worker_threads';

import { StoreUnavailable } from '../../errors.ts';
import type { NewEvent, QuarantineEntry, StoredEvent } from '../store.ts';
import { CLOCK_TOLERANCE_MS, MARK_MS, QUARANTINE_MAX_ENTRIES, dedupeWindowMs } from '../store.ts';
import { openDatabase, sqliteFailureOf } from './database.ts';

export type WorkerData = Readonly<{ dir: string; retentionMs: number }>;

/** A batch has only reads or only writes: names of operations with their arguments. */
export interface Batch {
  readonly kind: keyof Operations;
  readonly now: number;
  readonly calls: readonly (readonly [name: string, ...args: readonly unknown[]])[];
}

export type Operations = typeof operations;

const TRIM_BATCH = 500;

/** The database has a thread of its own, so that an fsync never stalls the event loop. */
const { dir, retentionMs } = workerData as WorkerData;
const windowMs = dedupeWindowMs(retentionMs);
// If this throws, the thread ends with the error, and so does the store.
const db = openDatabase(dir);
const sql = db.createTagStore();
/** The time of the batch. */
let now = 0;

const rows = <Row>(found: readonly unknown[]) => found as Row[];
const numberIn = (row: object | undefined) => Number(Object.values(row ?? {})[0] ?? 0);

/** The unique index of `seen` detects a copy. Entries older than the window count as absent. */
function isNew({ key, time = '' }: NewEvent): boolean {
  const { changes } = sql.run`
    INSERT INTO seen VALUES (${key}, ${time}, ${now})
    ON CONFLICT DO UPDATE SET at = excluded.at WHERE at < ${now - windowMs}`;
  if (changes === 0) return false;
  // So that a later copy without a time is detected too.
  if (time !== '') sql.run`INSERT OR REPLACE INTO seen VALUES (${key}, '', ${now})`;
  return true;
}

function valueOf(key: string): string | null {
  const row = sql.get`SELECT value FROM fact WHERE key = ${key} AND ends_at > ${now}`;
  return (row?.['value'] ?? null) as string | null;
}

const reads = {
  bounds() {
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
    rows<QuarantineEntry & { id: string }>(sql.all`
      SELECT CAST(id AS TEXT) AS id, received_at AS receivedAt, reason, body FROM quarantine
      WHERE quarantine.id > CAST(${after} AS INTEGER) ORDER BY quarantine.id LIMIT ${limit}`),
  countQuarantined: () => numberIn(sql.get`SELECT count(*) FROM quarantine`),
};

/** They run within a transaction. */
const writes = {
  /** The position of each event, 0 for a copy. */
  append: (events: readonly NewEvent[]) =>
    events.map((event) => {
      if (!isNew(event)) return 0;
      if (event.mark) writes.put({ [event.mark]: '' }, MARK_MS);
      const { receivedAt, subject = null, body } = event;
      const { lastInsertRowid } = sql.run`INSERT INTO event (received_at, subject, body)
        VALUES (${receivedAt}, ${subject}, ${body})`;
      return Number(lastInsertRowid);
    }),
  claim(key: string, value: string, ttlMs: number): string | null {
    const taken = valueOf(key);
    if (taken === null) writes.put({ [key]: value }, ttlMs);
    return taken;
  },
  put(values: Readonly<Record<string, string>>, ttlMs: number): void {
    for (const [key, value] of Object.entries(values))
      sql.run`INSERT OR REPLACE INTO fact VALUES (${key}, ${value}, ${now + ttlMs})`;
  },
  delete: (key: string, value: string): boolean =>
    sql.run`DELETE FROM fact WHERE key = ${key} AND value = ${value}`.changes === 1,
  quarantine({ receivedAt, reason, body }: QuarantineEntry): void {
    sql.run`INSERT INTO quarantine (received_at, reason, body)
      VALUES (${receivedAt}, ${reason}, ${body})`;
    const excess = Math.max(0, reads.countQuarantined() - QUARANTINE_MAX_ENTRIES);
    sql.run`DELETE FROM quarantine WHERE id IN (
      SELECT id FROM quarantine ORDER BY id LIMIT ${excess})`;
  },
  removeQuarantined: (id: string) => void sql.run`DELETE FROM quarantine WHERE id = ${id}`,
  /** Removes some of what is past its time. Returns whether there may be more. */
  trim(): boolean {
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

const operations = { reads, writes };

/** One commit, and so one fsync, for all waiting calls. The answer of one that failed is an `Error`. */
function run(kind: Batch['kind'], calls: Batch['calls']): readonly unknown[] {
  const named = operations[kind] as Record<string, (...args: readonly unknown[]) => unknown>;
  try {
    if (kind === 'writes') db.exec('BEGIN IMMEDIATE');
    const answers = calls.map(([name, ...args]) => named[name]?.(...args));
    if (kind === 'writes') db.exec('COMMIT');
    return answers;
  } catch (error) {
    // Some failures have rolled back already.
    if (db.isTransaction) db.exec('ROLLBACK');
    const { isDamage, reason } = sqliteFailureOf(error);
    const stopped = `the event store stopped: ${reason}; check the disk, then restart`;
    if (isDamage) throw new StoreUnavailable(stopped);
    // One call's invalid argument must not fail the others.
    if (calls.length > 1) return calls.flatMap((call) => run(kind, [call]));
    return [new Error(`the event store failed: ${reason}`)];
  }
}

parentPort?.on('message', (batch: Batch) => {
  ({ now } = batch);
  parentPort?.postMessage(run(batch.kind, batch.calls), []);
});
