import { randomUUID } from 'node:crypto';

import type { ExecutionResult } from 'graphql';

import { type Sink, Subscription } from '../subscriptions/subscriptions.ts';
import type { GatewayContext } from '../yoga.ts';
import { CLOSE, type WsConnection } from './connection.ts';

type Result = IteratorResult<ExecutionResult, undefined>;
const DONE: Result = { done: true, value: undefined };

type Run = (context: GatewayContext) => Promise<ExecutionResult | Subscription>;

/**
 * An operation as graphql-ws iterates it. It exists before its result does, so that its client can complete it at any
 * time. A query has one result. The results of a subscription are sent past graphql-ws, and `next` stays pending.
 */
export class SocketOperation implements AsyncIterableIterator<ExecutionResult, undefined>, Sink {
  readonly #connection: WsConnection;
  /** What comes before each result of a subscription. */
  readonly #head: string;
  readonly #answer = Promise.withResolvers<Result>();
  /** Undefined once it has begun. */
  #run: Run | undefined;
  /** Undefined once there is a result. */
  #context: GatewayContext | undefined;
  #subscription: Subscription | undefined;
  #isOver = false;

  constructor(id: string, connection: WsConnection, run: Run) {
    this.#head = `{"id":${JSON.stringify(id)},"type":"next","payload":`;
    this.#connection = connection;
    this.#run = run;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (!this.#run) return Promise.resolve(DONE);
    // It stays pending until the socket closes, and its client repeats it elsewhere.
    if (this.#connection.isEnding) return this.#answer.promise;
    this.#begin(this.#run).catch(this.#answer.reject);
    this.#run = undefined;
    return this.#answer.promise;
  }

  async #begin(run: Run): Promise<void> {
    this.#context = { requestId: randomUUID(), requester: this.#connection.viewer!, sink: this };
    this.#connection.running += 1;
    const result = await run(this.#context).finally(() => (this.#connection.running -= 1));
    this.#context = undefined;
    if (!(result instanceof Subscription)) return this.#answer.resolve({ value: result });
    this.#subscription = result;
    if (this.#isOver) result.end();
  }

  deliver(json: string): void | Promise<void> {
    return this.#connection.deliver(`${this.#head}${json}}`);
  }

  interrupt(): void {
    this.#connection.close(CLOSE.tryAgainLater);
  }

  /** Ends it immediately. Reads are aborted; a write that was sent is not. */
  return(): Promise<Result> {
    this.#isOver = true;
    this.#context?.usage?.end();
    this.#subscription?.end();
    this.#answer.resolve(DONE);
    return Promise.resolve(DONE);
  }
}
