import { LogLost, StoreUnavailable } from './errors.ts';
import type { LogBounds, Position, StoredEvent } from './event-log.ts';

export interface Changes {
  subscribe(listener: () => void): () => void;
  announce(): void;
}

/** Tells whoever listens that there is something new, and not what. */
export function createChanges(): Changes {
  const listeners = new Set<() => void>();
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    announce() {
      for (const listener of listeners) listener();
    },
  };
}

const MAX_EVENTS = 2_000;
const MAX_CHARACTERS = 4_000_000;

export interface RecentEvents {
  readonly newest: Position;
  /** Takes events in any order; keeps an unbroken run that ends with the newest. */
  push(event: StoredEvent): void;
  /** Undefined where memory does not reach back that far: the engine must be asked. */
  after(position: Position, limit: number): readonly StoredEvent[] | undefined;
  restart(newest: Position): void;
}

/** The end of the log in memory, so that followers and fresh cursors cost the engine nothing. */
export function createRecentEvents(newest: Position): RecentEvents {
  let events: StoredEvent[] = [];
  let last = newest;
  let characters = 0;

  function restart(position: Position) {
    events = [];
    last = position;
    characters = 0;
  }

  // Half at a time: dropping one by one would move the whole array for each event.
  function shrink() {
    events = events.slice(Math.ceil(events.length / 2));
    characters = events.reduce((sum, event) => sum + event.body.length, 0);
  }

  return {
    get newest() {
      return last;
    },
    push(event) {
      if (event.position <= last) return;
      if (event.position > last + 1) restart(event.position - 1);
      events.push(event);
      last = event.position;
      characters += event.body.length;
      while (events.length > MAX_EVENTS || (characters > MAX_CHARACTERS && events.length > 1))
        shrink();
    },
    after(position, limit) {
      const skipped = position - (last - events.length);
      if (skipped < 0 || position > last) return undefined;
      return events.slice(skipped, skipped + limit);
    },
    restart,
  };
}

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
