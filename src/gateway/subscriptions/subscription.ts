import type { ExecutionResult } from 'graphql';

import type { EventStream } from '../../events/event-stream.ts';
import type { PartnerEvent } from '../../events/partner-event.ts';

/** What an event says to a subscription: executed and serialized once, however many get it. */
export interface EventResult {
  readonly json: string;
  /** Which records it shows, for the audit of each who gets it. */
  readonly records: readonly string[];
  /** Which records it names and does not show. */
  readonly denied: readonly string[];
  /** Of the event in the log. */
  readonly position: number;
}

/** Where a subscription's results go. It bounds what may wait. */
export interface Sink {
  /** A promise is waited for while replaying, and not once live. `head`: the subscription's. */
  deliver(result: EventResult, head: string): void | Promise<void>;
  /** For a sink that is read from: the next result. */
  take?(): Promise<string>;
  /** The client has to come back, and resume by its cursor. */
  interrupt(): void;
}

/** What equal subscriptions share. Each of them is small, since there are thousands. */
export interface SubscriptionGroup {
  members: number;
  /** Undefined where the viewer may not see the event. */
  resultOf(event: PartnerEvent): Promise<EventResult | undefined>;
  /** From now on the group delivers, by one stream for all: it takes over this one, or ends it. */
  join(subscription: Subscription, source: EventStream): void;
  onDelivered(subjects: readonly string[], result: EventResult): void;
  onFailure(error: unknown): void;
  onEnd(subscription: Subscription): void;
}

/** Yoga sends what `stringify` returns. */
type Result = IteratorResult<ExecutionResult & { stringify?: () => string }, undefined>;
const DONE: Result = { done: true, value: undefined };

/** Executions that run ahead of the one which is delivered: a replay must not take a round trip for each event. */
const AHEAD = 16;

/**
 * The results of a subscription as an async iterator. Over WebSocket they don't come out of `next`, which stays pending
 * until the end, but go to a sink that sends the same text to every subscriber.
 */
export class Subscription implements AsyncIterableIterator<ExecutionResult, undefined> {
  sink: Sink | undefined;
  /** What the sink sends before each result. */
  head = '';
  isOver = false;
  /** Undefined for the one that reads a group's stream. */
  readonly subject: string | undefined;
  /** Nothing up to here is delivered: it came later. */
  since = 0;
  /** Its own while it replays, or where it is the group's. */
  #source: EventStream | undefined;
  readonly #group: SubscriptionGroup;
  #hasBegun = false;
  /** Resolves the `next` that is pending. */
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
    // No race with a promise that lives as long as the subscription: it would keep every result.
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

  /** At once, replaying or live. */
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

  /** Reads the stream to its end. Results go out in the order of the log, whichever execution ends first. */
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

  /** Going on would leave a gap that nobody notices. */
  #fail(error: unknown): void {
    if (this.isOver) return;
    this.#group.onFailure(error);
    this.interrupt();
  }
}
