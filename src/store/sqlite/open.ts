import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

import { steadyNow } from '../../clock.ts';
import { createBatches } from '../batches.ts';
import { StoreUnavailable } from '../../errors.ts';
import type { EventLog, LogBounds, Store, StoreOptions, StoredEvent } from '../store.ts';
import type { Batch, Operations, WorkerData } from './worker.ts';

const MAX_RECENT = 2_000;

/** Operations of the worker, as they are called from here. */
type Remote<Functions> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (...args: infer Args) => infer Answer
    ? (...args: Args) => Promise<Answer>
    : never;
};
type Thread = ReturnType<typeof startThread>;

/** SQLite with a write-ahead log, for one process and one directory. Every write is answered after its fsync. */
export async function openEmbedded(dir: string, options: StoreOptions): Promise<Store> {
  const { retentionMs, clock = steadyNow, onProblem = () => {} } = options;
  const thread = startThread({ dir, retentionMs }, clock);
  const { reads, writes } = thread;

  return {
    log: createEventLog(thread, await reads.bounds()),
    keys: { claim: writes.claim, put: writes.put, get: reads.get, delete: writes.delete },
    // There is one instance only.
    bus: { publish: async () => {}, check: async () => {}, subscribe: () => {} },
    quarantine: {
      add: writes.quarantine,
      list: reads.quarantined,
      remove: writes.removeQuarantined,
      count: reads.countQuarantined,
    },
    async check() {
      // SQLite goes on writing to a deleted file, whose events are gone after a restart.
      if (!existsSync(join(dir, 'events.db')))
        throw new StoreUnavailable('the file of the event store was deleted: restart the gateway');
      await writes.put({ checked: '' }, 60_000);
    },
    broken: thread.broken.then(onProblem),
    [Symbol.asyncDispose]: thread.close,
  };
}

function startThread(workerData: WorkerData, clock: () => number) {
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData, execArgv });
  /** Batches that the worker has not answered yet: it answers in order. */
  const underWay: PromiseWithResolvers<readonly unknown[]>[] = [];
  const broken = Promise.withResolvers<string>();
  let ended: StoreUnavailable | undefined;

  /** Rejects all further calls. The disk may be repaired for the next process. */
  function end(reason: string, isBroken = true): void {
    if (ended) return;
    ended = new StoreUnavailable(reason);
    for (const { reject } of underWay.splice(0)) reject(ended);
    if (isBroken) broken.resolve(reason);
  }

  // Under `node --watch` a thread also posts objects with the names of its files.
  worker.on('message', (message: object) => {
    if (Array.isArray(message)) underWay.shift()?.resolve(message);
  });
  worker.on('error', ({ name, message }) =>
    end(name === StoreUnavailable.name ? message : `the event store's thread failed: ${name}`),
  );
  worker.on('exit', () => end('the event store is closed'));

  async function run(kind: Batch['kind'], calls: Batch['calls']): Promise<readonly unknown[]> {
    if (ended) throw ended;
    const batch = Promise.withResolvers<readonly unknown[]>();
    underWay.push(batch);
    worker.postMessage({ kind, now: clock(), calls } satisfies Batch, []);
    const answers = await batch.promise;
    return answers.map((each) =>
      each instanceof Error ? new StoreUnavailable(each.message) : each,
    );
  }

  // Batches of reads and of writes take turns in the worker: a write waits for no more than 8 reads.
  const reads = createBatches((calls: Batch['calls']) => run('reads', calls), 8);
  const writes = createBatches((calls: Batch['calls']) => run('writes', calls), 1_000);
  const get =
    ({ call }: typeof reads, name: string) =>
    (...args: unknown[]) =>
      call([name, ...args]);

  return {
    reads: new Proxy(reads, { get }) as unknown as Remote<Operations['reads']>,
    writes: new Proxy(writes, { get }) as unknown as Remote<Operations['writes']>,
    /** Resolves to the reason if the thread ends by itself. */
    broken: broken.promise,
    /** Resolves when all calls are done and the file is closed. */
    async close(): Promise<void> {
      await Promise.all([reads.drained(), writes.drained()]);
      end('the event store is closed', false);
      await worker.terminate();
    },
  };
}

function createEventLog({ reads, writes }: Thread, opened: LogBounds): EventLog {
  const { epoch } = opened;
  let { oldest, newest } = opened;
  /** The newest events, so that readers who follow the log do not wait for the disk. */
  let recent: StoredEvent[] = [];
  let changed = Promise.withResolvers<void>();

  return {
    async append(events) {
      const positions = await writes.append(events);
      if (recent.length >= MAX_RECENT) recent = recent.slice(-MAX_RECENT / 2);
      events.forEach(({ receivedAt, body }, i) => {
        const position = positions[i] ?? 0;
        if (position > 0) recent.push({ position, receivedAt, body });
      });
      newest = recent.at(-1)?.position ?? newest;
      changed.resolve();
      changed = Promise.withResolvers<void>();
      return positions;
    },
    async read(after, limit) {
      // Trimmed events stay in memory for a while, but are not returned from either source.
      const from = Math.max(after, oldest);
      const skipped = from - (newest - recent.length);
      if (skipped >= 0)
        return { epoch, oldest, newest, events: recent.slice(skipped, skipped + limit) };
      const page = await reads.eventsAfter(from, limit);
      // The log may be trimmed at this moment.
      oldest = Math.max(oldest, page.oldest);
      return { epoch, oldest, newest, events: page.events };
    },
    bounds: async () => ({ epoch, oldest, newest }),
    changed: async (position) => (position < newest ? undefined : changed.promise),
    ofSubject: reads.eventsOfSubject,
    async trim() {
      while (await writes.trim());
      ({ oldest } = await reads.bounds());
    },
  };
}
