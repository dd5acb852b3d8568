import type { DatabaseSync } from 'node:sqlite';
import { StoreUnavailable } from '../errors.ts';

const VERSION = 3;

/** AUTOINCREMENT: a position is never used twice, not even when all events are gone. */
const TABLES = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE event (
    position INTEGER PRIMARY KEY AUTOINCREMENT, received_at INTEGER NOT NULL, subject TEXT, body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX event_of_subject ON event (subject) WHERE subject IS NOT NULL;
  CREATE TABLE seen (
    key TEXT NOT NULL, time TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (key, time)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE place (
    client TEXT NOT NULL, list TEXT NOT NULL, page INTEGER NOT NULL, seen_at INTEGER NOT NULL,
    PRIMARY KEY (client, list)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX place_seen ON place (seen_at);

  CREATE TABLE fact (key TEXT PRIMARY KEY, value TEXT NOT NULL, ends_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX fact_ends ON fact (ends_at);

  CREATE TABLE quarantine (
    id INTEGER PRIMARY KEY AUTOINCREMENT, received_at INTEGER NOT NULL, reason TEXT NOT NULL, body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX quarantine_count ON quarantine (received_at);
`;

/**
 * Checkpoints are rare, so that a page with a hundred changes is copied once; this takes up to 64 MB of write-ahead
 * log. The exclusive lock is held from the first access until the process ends, however it ends.
 */
export function prepareDatabase(db: DatabaseSync): void {
  db.exec(`
    PRAGMA busy_timeout = 1000;
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA cache_size = -8000;
    PRAGMA wal_autocheckpoint = 16000;
  `);
  const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
  if (version !== VERSION && version !== 0) {
    throw new StoreUnavailable(
      `it has format ${version}, but this version reads ${VERSION} only; set EVENT_STORE_DIR to another directory`,
    );
  }
  db.exec('BEGIN IMMEDIATE');
  if (version === 0) {
    db.exec(TABLES);
    db.prepare("INSERT INTO meta VALUES ('epoch', ?)").run(crypto.randomUUID());
  }
  // Added after the first stores of this version.
  db.exec('CREATE INDEX IF NOT EXISTS seen_at ON seen (at)');
  db.exec(`PRAGMA user_version = ${VERSION}; COMMIT`);
}
