import type { ExecutionResult } from 'graphql';

import type { EventStream } from '../../events/event-stream.ts';

/** The result of an event for a subscription, executed and serialized once for all its receivers. */
export interface EventResult {
  readonly json: string;
  /** The records in it, for the audit of each receiver. */
  readonly records: readonly string[];
  /** The records that it names and does not show. */
  readonly denied: readonly string[];
  /** The event's position in the log. */
  readonly position: number;
}

/** Where a subscription's results are sent. It limits what may wait. */
export interface Sink {
  /** While replaying, the returned promise is awaited. `head` is what comes before each result of the subscription. */
  deliver(result: EventResult, head: string): void | Promise<void>;
  /** The next result, for a sink that is read from. */
  take?(): Promise<string>;
  /** Makes the client reconnect and resume by its cursor. */
  interrupt(): void;
}

/** Equal subscriptions. Each subscription is small, since there are thousands. */
interface SubscriptionGroup {
  /** Delivers the events of its source to the subscription. */
  begin(subscription: Subscription): void;
  end(subscription: Subscription): void;
}

/** Yoga sends what `stringify` returns. */
type Result = IteratorResult<ExecutionResult & { stringify?: () => string }, undefined>;
const DONE: Result = { done: true, value: undefined };

/**
 * The results of a subscription as an async iterator. Over WebSocket `next` stays pending until the end, and results go
 * to a sink that sends the same text to every subscriber.
 */
export class Subscription implements AsyncIterableIterator<ExecutionResult, undefined> {
  sink: Sink | undefined;
  /** What the sink sends before each result. */
  head = '';
  isOver = false;
  readonly subject: string;
  /** Events up to this position are not delivered: they were already, or the subscription began later. */
  since = 0;
  /** Undefined once the group's stream serves it. */
  source: EventStream | undefined;
  readonly #group: SubscriptionGroup;
  #hasBegun = false;
  /** Resolves the pending `next`. */
  #resolve: ((result: Result) => void) | undefined;

  constructor(source: EventStream, group: SubscriptionGroup, subject: string) {
    this.source = source;
    this.#group = group;
    this.subject = subject;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.isOver) return Promise.resolve(DONE);
    // `Promise.race` with a promise that lives as long as the subscription would leak every result.
    const { promise, resolve } = Promise.withResolvers<Result>();
    this.#resolve = resolve;
    if (!this.#hasBegun) this.#group.begin(this);
    this.#hasBegun = true;
    void this.sink?.take?.().then((json) => resolve({ value: { stringify: () => json } }));
    return promise;
  }

  /** Ends immediately, replaying or live. */
  return(): Promise<Result> {
    if (!this.isOver) {
      this.isOver = true;
      void this.source?.return();
      this.#resolve?.(DONE);
      this.#group.end(this);
    }
    return Promise.resolve(DONE);
  }

  interrupt(): void {
    if (this.isOver) return;
    this.sink?.interrupt();
    void this.return();
  }
}
