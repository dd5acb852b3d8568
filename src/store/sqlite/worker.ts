import { parentPort, workerData } from 'node:worker_threads';

import { StoreUnavailable } from '../../errors.ts';
import { openDatabase, sqliteFailureOf } from './database.ts';
import { type DbCall, createOperations } from './operations.ts';

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

export type WorkerResult = { readonly answer: unknown } | { readonly failure: string };

/** The database has a thread of its own, so that an fsync never stalls the event loop. */
const { dir, retentionMs } = workerData as WorkerData;
const port = parentPort;
if (!port) throw new Error('this file is the worker thread of the embedded store');

// If this throws, the thread ends with the error, and so does the store.
const db = openDatabase(dir);
let now = 0;
const operations = createOperations(db, retentionMs, () => now);

/** One commit, and so one fsync, for all waiting calls. */
function run(kind: Batch['kind'], calls: readonly DbCall[]): readonly WorkerResult[] {
  const named = operations[kind] as Record<string, (...args: readonly unknown[]) => unknown>;
  try {
    if (kind === 'writes') db.exec('BEGIN IMMEDIATE');
    const results = calls.map(([name, ...args]) => ({ answer: named[name]?.(...args) }));
    if (kind === 'writes') db.exec('COMMIT');
    return results;
  } catch (error) {
    // Some failures have rolled back already.
    if (db.isTransaction) db.exec('ROLLBACK');
    const { isDamage, reason } = sqliteFailureOf(error);
    if (isDamage)
      throw new StoreUnavailable(
        `the event store stopped: ${reason}; check the disk, then restart`,
      );
    // One call's invalid argument must not fail the others.
    if (calls.length > 1) return calls.flatMap((call) => run(kind, [call]));
    return [{ failure: reason }];
  }
}

port.on('message', (batch: Batch) => {
  ({ now } = batch);
  port.postMessage(run(batch.kind, batch.calls));
});
