import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { runBatch } from './batch.ts';
import type { Engine } from './batch.ts';
import { failureOf, isLocked } from './failure.ts';
import { createIndexes } from './indexes.ts';
import { createOperations } from './operations.ts';
import { prepareDatabase } from './schema.ts';
import type { FromWorker, ToWorker } from './thread.ts';

/** The database has a thread of its own, so that an fsync never stalls the event loop. */
const { dir } = workerData as { readonly dir: string };
const port = parentPort;
if (!port) throw new Error('this file is the worker thread of the embedded store');

const post = (message: FromWorker) => port.postMessage(message);

function open(): Engine | undefined {
  try {
    // The log names patients' records: for this user's eyes only.
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const db = new DatabaseSync(join(dir, 'events.db'));
    prepareDatabase(db);
    const indexes = createIndexes(db);
    const operations = createOperations(db, indexes);
    post({ opened: operations.bounds() });
    return { db, indexes, operations };
  } catch (error) {
    const reason = isLocked(error)
      ? 'is in use by another process: set EVENT_STORE_DIR to another directory, or REDIS_URL to share one store'
      : `cannot be opened as event store: ${failureOf(error).reason}`;
    post({ refused: `${dir} ${reason}` });
    return undefined;
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
