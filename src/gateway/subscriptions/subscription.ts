import type { ExecutionResult } from 'graphql';

import type { EventStream } from '../../events/event-stream.ts';
import type { PartnerEvent } from '../../events/partner-event.ts';

/** What an event says to a subscription: executed and serialized once, however many get it. */
export interface EventResult {
  readonly result: ExecutionResult;
  readonly json: string;
  /** Which records it shows, for the audit of each who gets it. */
  readonly records: readonly string[];
  /** Of the event in the log. */
  readonly position: number;
}

/** Where a subscription's results go. It bounds what may wait. */
export interface Sink {
  /** A promise is waited for while replaying, and not once live. */
  deliver(result: EventResult): void | Promise<void>;
  /** For a sink that is read from: the next result. */
  take?(): Promise<ExecutionResult>;
  /** The client has to come back, and resume by its cursor. */
  interrupt(): void;
}

/** What equal subscriptions share. Each of them is small, since there are thousands. */
export interface SubscriptionGroup {
  /** Undefined where the viewer may not see the event. */
  resultOf(event: PartnerEvent): Promise<EventResult | undefined>;
  /** From now on the group delivers, by one stream for all: it takes over this one, or ends it. */
  join(subscription: Subscription, source: EventStream): void;
  onDelivered(subjects: readonly string[], result: EventResult): void;
  onFailure(error: unknown): void;
  onEnd(subscription: Subscription): void;
}

type Result = IteratorResult<ExecutionResult, undefined>;
const DONE: Result = { done: true, value: undefined };

/** Executions that run ahead of the one which is delivered: a replay must not take a round trip for each event. */
const AHEAD = 16;

/**
 * The results of a subscription as an async iterator. Over WebSocket they don't come out of `next`, which stays pending
 * until the end, but go to a sink that sends the same text to every subscriber.
 */
export class Subscription implements AsyncIterableIterator<ExecutionResult, undefined> {
  sink: Sink | undefined;
  isOver = false;
  /** Of the log that it reads: it can't go on with another one. */
  readonly generation: number;
  /** Undefined for the one that reads a group's stream. */
  readonly subject: string | undefined;
  /** Nothing up to here is delivered: it came later. */
  since = 0;
  /** Its own while it replays, or where it is the group's. */
  #source: EventStream | undefined;
  readonly #group: SubscriptionGroup;
  #delivering: Promise<void> | undefined;
  #ended: Promise<Result> | undefined;
  #end: ((result: Result) => void) | undefined;

  constructor(
    source: EventStream,
    group: SubscriptionGroup,
    subject: string | undefined,
    generation: number,
  ) {
    this.#source = source;
    this.#group = group;
    this.subject = subject;
    this.generation = generation;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.isOver) return Promise.resolve(DONE);
    if (!this.#ended) {
      this.#ended = new Promise((resolve) => (this.#end = resolve));
      if (this.#source?.isIdle) {
        this.#group.join(this, this.#source);
        this.#source = undefined;
      } else void this.read();
    }
    const taken = this.sink?.take?.().then((value): Result => ({ value }));
    return taken ? Promise.race([taken, this.#ended]) : this.#ended;
  }

  /** At once, replaying or live. */
  return(): Promise<Result> {
    if (!this.isOver) {
      this.isOver = true;
      void this.#source?.return();
      this.#end?.(DONE);
      this.#group.onEnd(this);
    }
    return Promise.resolve(DONE);
  }

  interrupt(): void {
    if (this.isOver) return;
    this.sink?.interrupt();
    void this.return();
  }

  /** Reads the stream to its end. */
  async read(): Promise<void> {
    const ahead: Promise<EventResult | undefined>[] = [];
    try {
      for await (const event of this.#source ?? []) {
        ahead.push(this.#group.resultOf(event));
        this.#delivering ??= this.#deliverAll(ahead);
        if (ahead.length >= AHEAD) await this.#delivering;
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** In the order of the log, whichever execution ends first. */
  async #deliverAll(ahead: Promise<EventResult | undefined>[]): Promise<void> {
    try {
      for (let [first] = ahead; first; [first] = ahead) {
        const result = await first;
        void ahead.shift();
        if (this.isOver) return;
        if (!result) continue;
        if (this.subject !== undefined) this.#group.onDelivered([this.subject], result);
        const delivered = this.sink?.deliver(result);
        if (!this.#source?.isLive) await delivered;
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#delivering = undefined;
    }
  }

  /** Going on would leave a gap that nobody notices. */
  #fail(error: unknown): void {
    this.#group.onFailure(error);
    this.interrupt();
  }
}
