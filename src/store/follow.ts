import { LogLost, StoreUnavailable } from './errors.ts';
import type { LogBounds, Position, StoredEvent } from './event-log.ts';

const MAX_EVENTS = 2_000;
const MAX_CHARACTERS = 4_000_000;

/** The end of the log in memory, so that followers and fresh cursors cost the engine nothing. */
export class RecentEvents {
  /** Called by `announce`, when there is something new. */
  readonly listeners = new Set<() => void>();
  newest: Position;
  #events: StoredEvent[] = [];
  #characters = 0;

  constructor(newest: Position) {
    this.newest = newest;
  }

  announce(): void {
    for (const listener of this.listeners) listener();
  }

  /** Takes events in any order; keeps an unbroken run that ends with the newest. */
  push(event: StoredEvent): void {
    if (event.position <= this.newest) return;
    if (event.position > this.newest + 1) this.restart(event.position - 1);
    this.#events.push(event);
    this.newest = event.position;
    this.#characters += event.body.length;
    while (this.#events.length > MAX_EVENTS || this.#characters > MAX_CHARACTERS) {
      if (this.#events.length === 1) return;
      // Half at a time: dropping one by one would move the whole array for each event.
      this.#events = this.#events.slice(Math.ceil(this.#events.length / 2));
      this.#characters = this.#events.reduce((sum, { body }) => sum + body.length, 0);
    }
  }

  /** Undefined where memory does not reach back that far: the engine must be asked. */
  after(position: Position, limit: number): readonly StoredEvent[] | undefined {
    const skipped = position - (this.newest - this.#events.length);
    if (skipped < 0 || position > this.newest) return undefined;
    return this.#events.slice(skipped, skipped + limit);
  }

  restart(newest: Position): void {
    this.#events = [];
    this.#characters = 0;
    this.newest = newest;
  }
}

const BATCH = 256;

/** Events and the bounds they were read within, as one consistent look at the log. */
export interface LogPage extends LogBounds {
  readonly events: readonly StoredEvent[];
}

export interface Followable {
  readonly epoch: string;
  readonly recent: RecentEvents;
  page(after: Position, limit: number): Promise<LogPage>;
}

type Batch = readonly StoredEvent[];
type Waiting = PromiseWithResolvers<IteratorResult<Batch, undefined>>;

/**
 * Written by hand: an async generator would hold `return()` back until the next event, and racing
 * promises against one that never settles would grow it for as long as the log is followed.
 */
export function follow(log: Followable, after: Position): AsyncIterableIterator<Batch> {
  const { epoch, recent } = log;
  const waiting: Waiting[] = [];
  let position = after;
  let reading = false;
  let announced = false;
  let ended = false;

  const onChange = () => {
    announced = true;
    void deliver();
  };
  recent.listeners.add(onChange);

  function end() {
    ended = true;
    recent.listeners.delete(onChange);
    for (const { resolve } of waiting.splice(0)) resolve({ done: true, value: undefined });
  }

  /** One look at the log. Answers whether another one may bring something. */
  async function deliverOnce(): Promise<boolean> {
    announced = false;
    try {
      const page = await log.page(position, BATCH);
      if (page.epoch !== epoch || position > page.newest) throw new LogLost('replaced');
      if (position < page.oldest) throw new LogLost('trimmed');
      const next = page.events.length > 0 ? waiting.shift() : undefined;
      if (!next) return announced;
      position += page.events.length;
      next.resolve({ done: false, value: page.events });
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
