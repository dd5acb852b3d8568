import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { StoreUnavailable } from '../errors.ts';
import type { LogBounds } from '../event-log.ts';
import { type Call, type OperationName, type Operations, isRead } from './operations.ts';
import type { Outcome } from './worker.ts';

export type ToWorker = readonly Call[] | 'close';
/** First how opening ended, then for each batch what came of its calls. */
export type FromWorker =
  | { readonly opened: LogBounds }
  | { readonly refused: string }
  | readonly Outcome[];

export type Thread = Awaited<ReturnType<typeof openThread>>;

type Caller = <Name extends OperationName>(
  name: Name,
  ...args: Parameters<Operations[Name]>
) => Promise<ReturnType<Operations[Name]>>;

interface Waiting {
  readonly call: Call;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A disk that stalls must not turn into memory that grows. */
const MAX_WAITING = 50_000;
const MAX_WRITES = 1_000;
/** A write waits for no more reads than these. */
const MAX_READS = 8;

/**
 * Calls that come while a batch is under way wait for the next one: the busier, the larger the groups. Batches of
 * reads and of writes take turns, so that neither delays the other.
 */
export async function openThread(dir: string, onBroken: (reason: string) => void) {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: { dir },
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const [first] = (await once(worker, 'message')) as [FromWorker];
  if ('refused' in first) throw new StoreUnavailable(first.refused);
  if (!('opened' in first)) throw new StoreUnavailable('the embedded store did not open');

  const reads: Waiting[] = [];
  const writes: Waiting[] = [];
  let wasWrite = false;
  let underWay: readonly Waiting[] = [];
  let scheduled = false;
  let ended: string | undefined;
  let drained: (() => void) | undefined;

  const post = (message: ToWorker) => worker.postMessage(message, []);

  function send() {
    scheduled = false;
    if (underWay.length > 0) return;
    wasWrite = writes.length > 0 && !(wasWrite && reads.length > 0);
    underWay = wasWrite ? writes.splice(0, MAX_WRITES) : reads.splice(0, MAX_READS);
    if (underWay.length > 0) return post(underWay.map(({ call }) => call));
    worker.unref();
    drained?.();
  }

  /** After this nothing is promised any more; the disk may be repaired for the next process. */
  function end(reason: string) {
    if (!ended) onBroken(reason);
    ended ??= reason;
    const error = new StoreUnavailable(ended);
    for (const { reject } of [...underWay, ...reads.splice(0), ...writes.splice(0)]) reject(error);
    underWay = [];
    drained?.();
  }

  function settle({ resolve, reject }: Waiting, outcome: Outcome) {
    if ('answer' in outcome) return resolve(outcome.answer);
    const { kind, reason } = outcome.failure;
    if (kind === 'damage') end(`the event store stopped: ${reason}; check the disk, then restart`);
    reject(new StoreUnavailable(`the event store failed: ${reason}`));
  }

  worker.unref();
  worker.on('message', (outcomes: readonly Outcome[]) => {
    const calls = underWay;
    underWay = [];
    outcomes.forEach((outcome, index) => calls[index] && settle(calls[index], outcome));
    send();
  });
  worker.on('error', (error) => end(`the event store's thread failed: ${error.name}`));
  worker.on('exit', () => end('the event store is closed'));

  function enqueue(...call: Call): Promise<unknown> {
    if (ended) return Promise.reject(new StoreUnavailable(ended));
    const queue = isRead(call[0]) ? reads : writes;
    if (queue.length >= MAX_WAITING) {
      return Promise.reject(new StoreUnavailable('the event store is overloaded'));
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    queue.push({ call, resolve, reject });
    if (!scheduled && underWay.length === 0) {
      // After this turn of the loop: whatever else arrives in it shares the commit.
      scheduled = true;
      worker.ref();
      setImmediate(send);
    }
    return promise;
  }

  return {
    opened: first.opened,
    call: enqueue as Caller,
    /** Resolves when all that was asked for is done and the file is closed. */
    async close(): Promise<void> {
      if (reads.length + writes.length + underWay.length > 0) {
        await new Promise<void>((resolve) => (drained = resolve));
      }
      const exited = once(worker, 'exit');
      worker.ref();
      if (ended) void worker.terminate();
      else post('close');
      ended ??= 'the event store is closed';
      await exited;
    },
  };
}
