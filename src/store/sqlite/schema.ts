import type { DatabaseSync } from 'node:sqlite';

const VERSION = 3;

/**
 * An event carries its key and subject; `seen` and `event_of_subject` are filled from it behind. Up to where that was
 * done is kept in `meta`. No event goes before: that, too, keeps a position from being given twice.
 */
const TABLES = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE event (
    position INTEGER PRIMARY KEY, received_at INTEGER NOT NULL, body TEXT NOT NULL,
    subject TEXT, key TEXT NOT NULL, stamp TEXT NOT NULL, at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE event_of_subject (
    subject TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (subject, position)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE seen (key TEXT PRIMARY KEY, at INTEGER NOT NULL, stamps TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE armed (note TEXT PRIMARY KEY, count INTEGER NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

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

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
}

/**
 * Checkpoints are rare, for a page that changed a hundred times in between is then copied once; the
 * price is some 64 MB of write-ahead log, read through in a moment after a crash. The exclusive lock is taken with the first access and held until the process ends, however it ends.
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
  const version = versionOf(db);
  if (version === VERSION) return;
  if (version !== 0) {
    throw new Error(
      `the event store has format ${version}, but this version knows ${VERSION} only`,
    );
  }
  db.exec('BEGIN IMMEDIATE');
  db.exec(TABLES);
  db.prepare("INSERT INTO meta VALUES ('epoch', ?), ('indexed', '0')").run(crypto.randomUUID());
  db.exec(`PRAGMA user_version = ${VERSION}; COMMIT`);
}
