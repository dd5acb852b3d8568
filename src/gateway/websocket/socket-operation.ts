import type { ExecutionResult } from 'graphql';

import { type Sink, Subscription } from '../subscriptions/subscription.ts';
import type { GatewayContext } from '../yoga.ts';

type Result = IteratorResult<ExecutionResult, undefined>;
const DONE: Result = { done: true, value: undefined };

/**
 * An operation as graphql-ws iterates it. It exists before its result does, so that its client can complete it at any
 * time. A query has one result; the results of a subscription go to the sink, and `next` stays pending until its end.
 */
export class SocketOperation implements AsyncIterableIterator<ExecutionResult, undefined> {
  readonly #sink: Sink;
  readonly #head: string;
  readonly #answer = Promise.withResolvers<Result>();
  /** Undefined once it has begun. */
  #run: (() => Promise<ExecutionResult | Subscription>) | undefined;
  /** Undefined once there is a result. */
  #context: GatewayContext | undefined;
  #subscription: Subscription | undefined;
  #isOver = false;

  constructor(
    id: string,
    sink: Sink,
    context: GatewayContext,
    run: () => Promise<ExecutionResult | Subscription>,
  ) {
    this.#head = `{"id":${JSON.stringify(id)},"type":"next","payload":`;
    this.#sink = sink;
    this.#context = context;
    this.#run = run;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (!this.#run) return Promise.resolve(DONE);
    this.#begin(this.#run()).catch(this.#answer.reject);
    this.#run = undefined;
    return this.#answer.promise;
  }

  async #begin(running: Promise<ExecutionResult | Subscription>): Promise<void> {
    const result = await running;
    this.#context = undefined;
    if (!(result instanceof Subscription)) return this.#answer.resolve({ value: result });
    this.#subscription = result;
    result.sink = this.#sink;
    result.head = this.#head;
    if (this.#isOver) void result.return();
    else void result.next();
  }

  /** Ends it immediately. Reads are aborted; a write that was sent is not. */
  return(): Promise<Result> {
    this.#isOver = true;
    this.#context?.usage?.end();
    void this.#subscription?.return();
    this.#answer.resolve(DONE);
    return Promise.resolve(DONE);
  }
}
