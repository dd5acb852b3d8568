import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { type Failure, failureOf, isLocked } from './failure.ts';
import { type Call, type Operations, createOperations, isRead } from './operations.ts';
import { prepareDatabase } from './schema.ts';
import type { FromWorker, ToWorker } from './thread.ts';

/** What came of a call. */
export type Outcome = { readonly answer: unknown } | { readonly failure: Failure };

interface Engine {
  readonly db: DatabaseSync;
  readonly operations: Operations;
}

/** The database has a thread of its own, so that an fsync never stalls the event loop. */
const { dir } = workerData as { readonly dir: string };
const port = parentPort;
if (!port) throw new Error('this file is the worker thread of the embedded store');

const post = (message: FromWorker) => port.postMessage(message);

/** SQLite gives the write-ahead log the mode of the database, which may lie in a folder others can read. */
function createPrivately(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
  for (const name of [file, `${file}-wal`, `${file}-shm`]) {
    if (existsSync(name)) chmodSync(name, 0o600);
  }
}

const OTHER_DIR = 'set EVENT_STORE_DIR to another directory';
const NOT_PERMITTED = `can't be created or written to by this user: change the owner or the mode of the directory and its files, or ${OTHER_DIR}`;
const NOT_A_DIRECTORY = `is a file, or lies below one, and must be a directory: remove the file, or ${OTHER_DIR}`;
const READ_ONLY = `is on a read-only file system: mount it for writing, or ${OTHER_DIR}`;
const REFUSALS: Readonly<Record<string, string>> = {
  EEXIST: NOT_A_DIRECTORY,
  ENOTDIR: NOT_A_DIRECTORY,
  EACCES: NOT_PERMITTED,
  EPERM: NOT_PERMITTED,
  EROFS: READ_ONLY,
  ENOSPC: `is on a full disk: make room, or ${OTHER_DIR}`,
};

/** Why the directory can't be used, and what to do about it. */
function refusalOf(error: unknown): string {
  if (isLocked(error))
    return `is in use by another process: ${OTHER_DIR}, or REDIS_URL to share one store`;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return (
    REFUSALS[code] ??
    `cannot be opened as event store: ${failureOf(error).reason}. Check events.db in it, or ${OTHER_DIR}`
  );
}

function open(): Engine | undefined {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
    const file = join(dir, 'events.db');
    createPrivately(file);
    const db = new DatabaseSync(file);
    prepareDatabase(db);
    const operations = createOperations(db);
    post({ opened: operations.bounds() });
    return { db, operations };
  } catch (error) {
    post({ refused: `${resolve(dir)} ${refusalOf(error)}` });
    return undefined;
  }
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

/** One commit, and so one fsync, for all calls that waited. A batch is all of reads or all of writes. */
function runBatch({ db, operations }: Engine, calls: readonly Call[]): readonly Outcome[] {
  const run = ([name, ...args]: Call): Outcome => ({
    answer: (operations[name] as (...args: readonly unknown[]) => unknown)(...args),
  });
  try {
    const isReading = isRead(calls[0]?.[0] ?? 'touch');
    return isReading ? calls.map(run) : inTransaction(db, () => calls.map(run));
  } catch (error) {
    const failure = failureOf(error);
    // One call's bad argument is not its neighbours' fault.
    if (failure.kind === 'misuse' && calls.length > 1)
      return calls.flatMap((call) => runBatch({ db, operations }, [call]));
    return calls.map(() => ({ failure }));
  }
}

const store = open();
if (!store) port.close();

port.on('message', (message: ToWorker) => {
  if (!store) return;
  if (message !== 'close') return post(runBatch(store, message));
  store.db.close();
  port.close();
});
