import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

import type { LogBounds } from '../event-log.ts';
import { type SqliteFailure, sqliteFailureOf, isLocked } from './failure.ts';
import { type DbCall, createOperations } from './operations.ts';
import { prepareDatabase } from './schema.ts';

export interface WorkerData {
  readonly dir: string;
  readonly retentionMs: number;
}

/** A batch has only reads or only writes. */
export interface Batch {
  readonly kind: 'reads' | 'writes';
  readonly now: number;
  readonly calls: readonly DbCall[];
}

/** The log's bounds, or why the directory can't be used. */
export type Opened = LogBounds | string;
/** The result of a call. */
export type WorkerResult = { readonly answer: unknown } | { readonly failure: SqliteFailure };

/** The database has a thread of its own, so that an fsync never stalls the event loop. */
const { dir, retentionMs } = workerData as WorkerData;
const port = parentPort;
if (!port) throw new Error('this file is the worker thread of the embedded store');

/** A process that is about to end may still have the file locked. */
const LOCK_MS = 1_000;
const OTHER_DIR = 'set EVENT_STORE_DIR to another directory';
const NOT_PERMITTED = `can't be created or written to by this user: change the owner or the mode of the directory and its files, or ${OTHER_DIR}`;
const NOT_A_DIRECTORY = `is a file, or lies below one, and must be a directory: remove the file, or ${OTHER_DIR}`;
const REFUSALS: Readonly<Record<string, string>> = {
  EEXIST: NOT_A_DIRECTORY,
  ENOTDIR: NOT_A_DIRECTORY,
  EACCES: NOT_PERMITTED,
  EPERM: NOT_PERMITTED,
  // Node reports no other code if it creates the directory itself.
  ENOENT: `can't be created, because it is on a read-only file system or behind a broken link: create it, or ${OTHER_DIR}`,
  EROFS: `is on a read-only file system: mount it for writing, or ${OTHER_DIR}`,
  ENOSPC: `is on a full disk: free space, or ${OTHER_DIR}`,
};

/** Why the directory can't be used, and what to do about it. */
function refusalOf(error: unknown): string {
  if (isLocked(error))
    return `is in use by another process: ${OTHER_DIR}, or REDIS_URL to share one store`;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return (
    REFUSALS[code] ??
    `cannot be opened as event store: ${sqliteFailureOf(error).reason}. Check events.db in it, or ${OTHER_DIR}`
  );
}

function openDatabase(): DatabaseSync {
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  fs.accessSync(dir, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
  const file = join(dir, 'events.db');
  fs.closeSync(fs.openSync(file, 'a', 0o600));
  // SQLite gives the write-ahead log the mode of the database, which may lie in a folder others can read.
  for (const name of [file, `${file}-wal`, `${file}-shm`])
    if (fs.existsSync(name)) fs.chmodSync(name, 0o600);
  const db = new DatabaseSync(file, { timeout: LOCK_MS });
  prepareDatabase(db);
  return db;
}

function inTransaction<Result>(db: DatabaseSync, work: () => Result): Result {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    // Some failures have rolled back already.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function serve(db: DatabaseSync): LogBounds {
  let now = 0;
  const operations = createOperations(db, retentionMs, () => now);

  /** One commit, and so one fsync, for all waiting calls. */
  function run(kind: Batch['kind'], calls: readonly DbCall[]): readonly WorkerResult[] {
    const named = operations[kind] as Record<string, (...args: readonly unknown[]) => unknown>;
    const runAll = () => calls.map(([name, ...args]) => ({ answer: named[name]?.(...args) }));
    try {
      return kind === 'reads' ? runAll() : inTransaction(db, runAll);
    } catch (error) {
      const failure = sqliteFailureOf(error);
      // One call's invalid argument must not fail the others.
      if (failure.kind === 'misuse' && calls.length > 1)
        return calls.flatMap((call) => run(kind, [call]));
      return calls.map(() => ({ failure }));
    }
  }

  port?.on('message', (batch: Batch | 'close') => {
    if (batch !== 'close') {
      ({ now } = batch);
      return port.postMessage(run(batch.kind, batch.calls));
    }
    db.close();
    return port.close();
  });
  return operations.reads.bounds();
}

try {
  port.postMessage(serve(openDatabase()) satisfies Opened);
} catch (error) {
  port.postMessage(`${resolve(dir)} ${refusalOf(error)}` satisfies Opened);
  port.close();
}
