import type { DatabaseSync } from 'node:sqlite';
import { StoreUnavailable } from '../errors.ts';

const VERSION = 3;

/** AUTOINCREMENT: a position is never used twice, not even when all events are gone. */
const TABLES = `
  CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE IF NOT EXISTS event (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    received_at INTEGER NOT NULL, subject TEXT, body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS event_of_subject ON event (subject) WHERE subject IS NOT NULL;
  CREATE TABLE IF NOT EXISTS seen (
    key TEXT NOT NULL, time TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (key, time)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS seen_at ON seen (at);

  -- Of earlier versions: the places of clients are facts now.
  DROP TABLE IF EXISTS place;

  CREATE TABLE IF NOT EXISTS fact (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, ends_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS fact_ends ON fact (ends_at);

  CREATE TABLE IF NOT EXISTS quarantine (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    received_at INTEGER NOT NULL, reason TEXT NOT NULL, body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS quarantine_count ON quarantine (received_at);
`;

/**
 * Checkpoints are rare, so that a page with a hundred changes is copied once. In return the write-ahead log may grow to
 * 64 MB, which is read quickly after a crash. The exclusive lock is taken with the first access and held until the
 * process ends, however it ends.
 */
export function prepareDatabase(db: DatabaseSync): void {
  db.exec(`
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
  db.exec(`BEGIN IMMEDIATE; ${TABLES}`);
  db.prepare("INSERT OR IGNORE INTO meta VALUES ('epoch', ?)").run(crypto.randomUUID());
  db.exec(`PRAGMA user_version = ${VERSION}; COMMIT`);
}
