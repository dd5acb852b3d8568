import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { type LogBounds, type StoredEvent, TIMES_KEPT, expiredUpTo } from '../event-log.ts';
import { QUARANTINE_MAX_ENTRIES, type QuarantinedEntry } from '../store.ts';
import { GONE, MAX_PLACES, NO_PAGE, PLACES_KEPT_MS, type PlaceChange } from '../places.ts';

/** Key, time, time of receipt, subject, body; one after another for each event, '' for none. */
export type FlatEvents = readonly (string | number)[];
const FLAT_LENGTH = 5;
type Flat = [string, string, number, string, string];

const TRIM_BATCH = 500;

const storedEvent = (row: Record<string, SQLOutputValue>): StoredEvent => ({
  position: Number(row['position']),
  receivedAt: Number(row['received_at']),
  body: String(row['body']),
});

/** The log: each call runs within the worker's transaction. */
function logOperations(db: DatabaseSync) {
  const columns = 'position, received_at, body';
  // The unique index of `seen` detects a copy. Entries older than the window count as absent.
  const accept = db.prepare(
    `INSERT INTO seen VALUES (?1, ?2, ?3)
     ON CONFLICT DO UPDATE SET at = excluded.at WHERE at < ?4`,
  );
  const putKey = db.prepare("INSERT OR REPLACE INTO seen VALUES (?, '', ?)");
  const dropOldTimes = db.prepare(
    `DELETE FROM seen WHERE key = ?1 AND time IN (SELECT time FROM seen
     WHERE key = ?1 AND time <> '' ORDER BY at DESC, time DESC LIMIT -1 OFFSET ${TIMES_KEPT})`,
  );
  const add = db.prepare('INSERT INTO event (received_at, subject, body) VALUES (?, ?, ?)');
  const epoch = db.prepare("SELECT value FROM meta WHERE name = 'epoch'");
  const newest = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'event'");
  const oldest = db.prepare('SELECT min(position) AS position FROM event');
  const after = db.prepare(
    `SELECT ${columns} FROM event WHERE position > ? ORDER BY position LIMIT ?`,
  );
  const ofSubject = db.prepare(
    `SELECT ${columns} FROM event WHERE subject = ? ORDER BY position DESC LIMIT ?`,
  );
  const dates = db.prepare(
    `SELECT position, received_at FROM event ORDER BY position LIMIT ${TRIM_BATCH}`,
  );
  const trim = db.prepare('DELETE FROM event WHERE position <= ?');
  // Key by key instead of by an index on `at`, which every event would have to pay for.
  const keyAfter = db.prepare('SELECT key FROM seen WHERE key > ? LIMIT 1 OFFSET 999');
  const trimSeen = db.prepare('DELETE FROM seen WHERE key > ? AND key <= ? AND at < ?');
  const touch = db.prepare("INSERT OR REPLACE INTO meta VALUES ('checked', ?)");

  function isNew(key: string, time: string, now: number, since: number): boolean {
    if (accept.run(key, time, now, since).changes === 0) return false;
    if (time === '') return true;
    // For events of this key without a time.
    putKey.run(key, now);
    dropOldTimes.run(key);
    return true;
  }

  return {
    /** The position of each event, 0 for a copy. Keys last seen before `since` count as unseen. */
    append(events: FlatEvents, now: number, since: number): readonly number[] {
      const positions: number[] = [];
      for (let at = 0; at < events.length; at += FLAT_LENGTH) {
        const event = events.slice(at, at + FLAT_LENGTH) as Flat;
        const [key, time, receivedAt, subject, body] = event;
        positions.push(
          isNew(key, time, now, since)
            ? Number(add.run(receivedAt, subject || null, body).lastInsertRowid)
            : 0,
        );
      }
      return positions;
    },
    bounds(): LogBounds {
      const last = Number(newest.get()?.['seq'] ?? 0);
      return {
        epoch: String(epoch.get()?.['value']),
        oldest: Number(oldest.get()?.['position'] ?? last + 1) - 1,
        newest: last,
      };
    },
    eventsAfter: (position: number, limit: number) => after.all(position, limit).map(storedEvent),
    eventsOfSubject: (subject: string, limit: number) =>
      ofSubject.all(subject, limit).map(storedEvent).toReversed(),
    trimEvents(now: number, retentionMs: number): boolean {
      const rows = dates.all().map((row) => ({
        position: Number(row['position']),
        receivedAt: Number(row['received_at']),
      }));
      const upTo = expiredUpTo(rows, now, retentionMs);
      return upTo > 0 && Number(trim.run(upTo).changes) === TRIM_BATCH;
    },
    /** Removes old keys among the next thousand after `from`. Returns where to go on, '' at the end. */
    trimSeen(from: string, since: number): string {
      const to = String(keyAfter.get(from)?.['key'] ?? '');
      trimSeen.run(from, to || '\u{10ffff}', since);
      return to;
    },
    touch: (now: number) => void touch.run(String(now)),
  };
}

function keyOperations(db: DatabaseSync) {
  const get = db.prepare('SELECT value FROM fact WHERE key = ? AND ends_at > ?');
  const put = db.prepare('INSERT OR REPLACE INTO fact VALUES (?, ?, ?)');
  const remove = db.prepare('DELETE FROM fact WHERE key = ?');
  const trim = db.prepare(
    `DELETE FROM fact WHERE key IN (SELECT key FROM fact WHERE ends_at <= ? LIMIT ${TRIM_BATCH})`,
  );
  const valueOf = (key: string, now: number) => {
    const row = get.get(key, now);
    return row && String(row['value']);
  };

  return {
    claim(key: string, value: string, now: number, endsAt: number): string | undefined {
      const taken = valueOf(key, now);
      if (taken === undefined) put.run(key, value, endsAt);
      return taken;
    },
    putFact: (key: string, value: string, endsAt: number) => void put.run(key, value, endsAt),
    factsOf: (keys: readonly string[], now: number) => keys.map((key) => valueOf(key, now)),
    deleteFact: (key: string) => void remove.run(key),
    trimFacts: (now: number) => Number(trim.run(now).changes) === TRIM_BATCH,
  };
}

function quarantineOperations(db: DatabaseSync) {
  const add = db.prepare('INSERT INTO quarantine (received_at, reason, body) VALUES (?, ?, ?)');
  const list = db.prepare('SELECT * FROM quarantine ORDER BY id LIMIT ?');
  const remove = db.prepare('DELETE FROM quarantine WHERE id = ?');
  const count = db.prepare('SELECT count(*) AS entries FROM quarantine');
  const removeOldest = db.prepare(
    'DELETE FROM quarantine WHERE id IN (SELECT id FROM quarantine ORDER BY id LIMIT ?)',
  );
  const countQuarantined = () => Number(count.get()?.['entries']);

  return {
    quarantine(receivedAt: number, reason: string, body: string): void {
      add.run(receivedAt, reason, body);
      const excess = countQuarantined() - QUARANTINE_MAX_ENTRIES;
      if (excess > 0) removeOldest.run(excess);
    },
    quarantined: (limit: number): readonly QuarantinedEntry[] =>
      list.all(limit).map((row) => ({
        id: String(row['id']),
        receivedAt: Number(row['received_at']),
        reason: String(row['reason']),
        body: String(row['body']),
      })),
    releaseQuarantined: (id: string) => void remove.run(id),
    countQuarantined,
  };
}

/** Where clients were last seen. */
function placeOperations(db: DatabaseSync) {
  const put = db.prepare(
    `INSERT INTO place (client, list, page, seen_at) VALUES (:client, :list, :page, :now) ON CONFLICT (client, list)
     DO UPDATE SET page = iif(:page = ${NO_PAGE}, page, :page), seen_at = :now`,
  );
  const remove = db.prepare('DELETE FROM place WHERE client = ? AND list = ?');
  const read = db.prepare('SELECT list, page FROM place WHERE client = ?');
  const count = db.prepare('SELECT count(*) AS places FROM place');
  const trim = db.prepare(
    `DELETE FROM place WHERE (client, list) IN
     (SELECT client, list FROM place WHERE seen_at < ? ORDER BY seen_at LIMIT ${TRIM_BATCH})`,
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
    trimPlaces(now: number): boolean {
      const isFull = Number(count.get()?.['places']) > MAX_PLACES;
      return Number(trim.run(isFull ? now : now - PLACES_KEPT_MS).changes) === TRIM_BATCH;
    },
  };
}

/** Everything the worker can be asked for, by name. Trimming answers whether there may be more to remove. */
export const createOperations = (db: DatabaseSync) => ({
  ...logOperations(db),
  ...keyOperations(db),
  ...quarantineOperations(db),
  ...placeOperations(db),
});

export type Operations = ReturnType<typeof createOperations>;
export type OperationName = keyof Operations;

/** A name and its arguments, as they cross to the worker. */
export type Call = readonly [name: OperationName, ...args: readonly unknown[]];

const READS: ReadonlySet<OperationName> = new Set<OperationName>([
  'bounds',
  'eventsAfter',
  'eventsOfSubject',
  'factsOf',
  'quarantined',
  'countQuarantined',
  'placesOf',
]);

export const isRead = (name: OperationName) => READS.has(name);
