import type { Changes } from './changes.ts';
import { LogLost, StoreUnavailable } from './errors.ts';
import type { LogBounds, Position, StoredEvent } from './event-log.ts';

const BATCH = 256;

/** Events and the bounds they were read within, as one consistent look at the log. */
export interface LogPage extends LogBounds {
  readonly events: readonly StoredEvent[];
}

export interface Followable {
  readonly epoch: string;
  readonly changes: Changes;
  page(after: Position, limit: number): Promise<LogPage>;
}

type Batch = readonly StoredEvent[];
type Waiting = PromiseWithResolvers<IteratorResult<Batch, undefined>>;

/**
 * Written by hand: an async generator would hold `return()` back until the next event, and racing
 * promises against one that never settles would grow it for as long as the log is followed.
 */
export function follow(log: Followable, after: Position): AsyncIterableIterator<Batch> {
  const epoch = log.epoch;
  const waiting: Waiting[] = [];
  let position = after;
  let reading = false;
  let announced = false;
  let ended = false;

  const unsubscribe = log.changes.subscribe(() => {
    announced = true;
    void deliver();
  });

  function end() {
    ended = true;
    unsubscribe();
    for (const { resolve } of waiting.splice(0)) resolve({ done: true, value: undefined });
  }

  async function readBatch(): Promise<Batch> {
    const page = await log.page(position, BATCH);
    if (page.epoch !== epoch || position > page.newest) throw new LogLost('replaced');
    if (position < page.oldest) throw new LogLost('trimmed');
    return page.events;
  }

  /** One look at the log. Answers whether another one may bring something. */
  async function deliverOnce(): Promise<boolean> {
    announced = false;
    try {
      const batch = await readBatch();
      const next = batch.length > 0 ? waiting.shift() : undefined;
      if (!next) return announced;
      position += batch.length;
      next.resolve({ done: false, value: batch });
      return true;
    } catch (error) {
      // A store that is down announces itself when it is back.
      if (error instanceof StoreUnavailable) return announced;
      waiting.shift()?.reject(error);
      end();
      return false;
    }
  }

  async function deliver() {
    if (reading) return;
    reading = true;
    while (waiting.length > 0 && (await deliverOnce()));
    reading = false;
  }

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next() {
      if (ended) return Promise.resolve({ done: true, value: undefined });
      const next: Waiting = Promise.withResolvers();
      waiting.push(next);
      void deliver();
      return next.promise;
    },
    return() {
      end();
      return Promise.resolve({ done: true, value: undefined });
    },
  };
}
