import type { ExecutionResult } from 'graphql';

import type { EventStream } from '../../events/event-stream.ts';
import type { PartnerEvent } from '../../events/partner-event.ts';

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

/** The state that equal subscriptions share. Each subscription is small, since there are thousands. */
export interface SubscriptionGroup {
  members: number;
  /** Undefined if the viewer may not see the event. */
  resultOf(event: PartnerEvent): Promise<EventResult | undefined>;
  /** From now on the group's stream serves this subscription. `source` becomes that stream, or ends if there is one. */
  join(subscription: Subscription, source: EventStream): void;
  onDelivered(subjects: readonly string[], result: EventResult): void;
  onFailure(error: unknown): void;
  onEnd(subscription: Subscription): void;
}

/** Yoga sends what `stringify` returns. */
type Result = IteratorResult<ExecutionResult & { stringify?: () => string }, undefined>;
const DONE: Result = { done: true, value: undefined };

/** Executions that run ahead of the delivered one: a replay must not take a round trip for each event. */
const AHEAD = 16;

/**
 * The results of a subscription as an async iterator. Over WebSocket `next` stays pending until the end, and results go
 * to a sink that sends the same text to every subscriber.
 */
export class Subscription implements AsyncIterableIterator<ExecutionResult, undefined> {
  sink: Sink | undefined;
  /** What the sink sends before each result. */
  head = '';
  isOver = false;
  /** Undefined for the subscription that reads a group's stream. */
  readonly subject: string | undefined;
  /** Events up to this position are not delivered: the subscription began later. */
  since = 0;
  /** Its own stream while it replays, or the group's if it reads for the group. */
  #source: EventStream | undefined;
  readonly #group: SubscriptionGroup;
  #hasBegun = false;
  /** Resolves the pending `next`. */
  #resolve: ((result: Result) => void) | undefined;

  constructor(source: EventStream, group: SubscriptionGroup, subject: string | undefined) {
    this.#source = source;
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
    if (!this.#hasBegun) this.#begin();
    void this.sink?.take?.().then((json) => resolve({ value: { stringify: () => json } }));
    return promise;
  }

  #begin(): void {
    this.#hasBegun = true;
    if (!this.#source?.isIdle) return void this.read();
    this.#group.join(this, this.#source);
    this.#source = undefined;
  }

  /** Ends immediately, replaying or live. */
  return(): Promise<Result> {
    if (!this.isOver) {
      this.isOver = true;
      void this.#source?.return();
      this.#resolve?.(DONE);
      this.#group.onEnd(this);
    }
    return Promise.resolve(DONE);
  }

  interrupt(): void {
    if (this.isOver) return;
    this.sink?.interrupt();
    void this.return();
  }

  /** Reads the stream to its end. Results are delivered in the order of the log, whichever execution finishes first. */
  async read(): Promise<void> {
    let [delivered, waiting] = [Promise.resolve(), 0];
    try {
      for await (const event of this.#source ?? []) {
        const [before, result] = [delivered, this.#group.resultOf(event)];
        waiting += 1;
        delivered = before
          .then(() => result)
          .then((made) => {
            waiting -= 1;
            return made && this.#deliver(made);
          });
        delivered.catch((error: unknown) => this.#fail(error));
        if (waiting >= AHEAD) await delivered;
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #deliver(result: EventResult): void | Promise<void> {
    if (this.isOver) return;
    if (this.subject !== undefined) this.#group.onDelivered([this.subject], result);
    const delivered = this.sink?.deliver(result, this.head);
    return this.#source?.isLive ? undefined : delivered;
  }

  /** Ends the subscription: going on would leave a gap unnoticed. */
  #fail(error: unknown): void {
    if (this.isOver) return;
    this.#group.onFailure(error);
    this.interrupt();
  }
}
