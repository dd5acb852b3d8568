import * as fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { StoreUnavailable } from '../../errors.ts';

const VERSION = 3;

/** AUTOINCREMENT: no position is used twice, even when all events are gone. `fact` has the values of the `KeyStore`. */
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

function prepareDatabase(db: DatabaseSync): void {
  // Checkpoints are rare, so that a page with a hundred changes is copied once. In return the write-ahead log may grow
  // to 64 MB, which is read quickly after a crash. The exclusive lock is held until the process ends, however it ends.
  db.exec(`
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA cache_size = -8000;
    PRAGMA wal_autocheckpoint = 16000;
  `);
  const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
  if (version !== VERSION && version !== 0)
    throw new StoreUnavailable(`it has format ${version}, but this version reads ${VERSION} only`);
  db.exec(`BEGIN IMMEDIATE; ${TABLES}`);
  db.prepare("INSERT OR IGNORE INTO meta VALUES ('epoch', ?)").run(crypto.randomUUID());
  db.exec(`PRAGMA user_version = ${VERSION}; COMMIT`);
}

const OTHER_DIR = 'set EVENT_STORE_DIR to another directory';
// https://sqlite.org/rescode.html
const [BUSY, FULL] = [5, 13];
// I/O error, corrupt, not a database. The state of the disk is then unknown, so the store must be opened anew: after a
// failed fsync the kernel may have dropped the pages, and a second one then succeeds although they are lost.
const DAMAGES = [10, 11, 26];
const NOT_PERMITTED = `can't be created or written to by this user: change the owner or the mode of the directory and its files, or ${OTHER_DIR}`;
const ON_FULL_DISK = `is on a full disk: free space, or ${OTHER_DIR}`;
const REFUSALS: Readonly<Record<string, string>> = {
  [BUSY]: `is in use by another process: stop that process, ${OTHER_DIR}, or REDIS_URL to share one store`,
  [FULL]: ON_FULL_DISK,
  EEXIST: `is a file or a broken link, or lies below one, and must be a directory: remove it, or ${OTHER_DIR}`,
  EACCES: NOT_PERMITTED,
  EPERM: NOT_PERMITTED,
  ENOENT: `can't be created there: ${OTHER_DIR}`,
  EROFS: `is on a read-only file system: mount it for writing, or ${OTHER_DIR}`,
  ENOSPC: ON_FULL_DISK,
};

/** Throws `StoreUnavailable` with the reason, and what to do about it. */
export function openDatabase(path: string): DatabaseSync {
  const dir = resolve(path);
  const file = join(dir, 'events.db');
  try {
    makeDir(dir);
    fs.accessSync(dir, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
    fs.closeSync(fs.openSync(file, 'a', 0o600));
    // SQLite gives the write-ahead log the mode of the database, which may lie in a folder others can read.
    for (const name of [file, `${file}-wal`, `${file}-shm`])
      if (fs.existsSync(name)) fs.chmodSync(name, 0o600);
    // A process that is about to end may still have the file locked.
    const db = new DatabaseSync(file, { timeout: 1_000 });
    prepareDatabase(db);
    return db;
  } catch (error) {
    const { errcode, code } = Object(error);
    const refusal =
      REFUSALS[errcode & 0xff] ??
      REFUSALS[code] ??
      `cannot be opened as event store: ${sqliteFailureOf(error).reason}. Check events.db in it, or ${OTHER_DIR}`;
    throw new StoreUnavailable(`${dir} ${refusal}`, { cause: error });
  }
}

/** One directory at a time: Node's `recursive` option never returns where none can be created, as in /proc. */
function makeDir(dir: string): void {
  if (fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return;
  makeDir(dirname(dir));
  fs.mkdirSync(dir, { mode: 0o700 });
}

/** Of an error of SQLite or of the file system. */
export function sqliteFailureOf(error: unknown): { isDamage: boolean; reason: string } {
  const { errcode, errstr, code } = Object(error);
  const isDamage = DAMAGES.includes(errcode & 0xff);
  if (errcode !== undefined) return { isDamage, reason: `${errstr} (SQLite code ${errcode})` };
  if (error instanceof StoreUnavailable) return { isDamage, reason: error.message };
  // Never its message: that may quote the value that did not fit, and the reason will be logged.
  return { isDamage, reason: code ?? (error instanceof Error ? error.name : 'unknown') };
}
