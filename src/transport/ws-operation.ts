import type { GraphQLError } from 'graphql';

import type { FanOut } from './fan-out.ts';
import type { Prepared } from './pipeline.ts';
import { type Refusal, isRefusal } from './refusal.ts';
import { CLOSE } from './ws-close.ts';
import type { WsConnection } from './ws-connection.ts';

/** What one `subscribe` message asks for. */
export interface WsOperation {
  readonly id: string;
  readonly connection: WsConnection;
  readonly prepared: Prepared;
}

/** Carries a refusal through graphql-ws, which knows errors alone. */
class Refused extends Error {
  override readonly name = 'Refused';
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super('refused');
    this.refusal = refusal;
  }
}

const DONE = { done: true, value: undefined } as const;

/**
 * For graphql-ws the operation is an iterable that stays open and yields nothing: what its events say is written
 * straight to the socket, the same bytes for everyone.
 */
export function openOperation({ id, connection, prepared }: WsOperation, fanOut: FanOut) {
  const head = `{"id":${JSON.stringify(id)},"type":"next","payload":`;
  const { promise: ended, resolve } = Promise.withResolvers<Refusal | undefined>();
  const subscription = fanOut.subscribe(
    { prepared, viewer: connection.viewer!, door: 'ws' },
    {
      next: (payload) => connection.deliver(head, payload),
      lost: () => connection.close(CLOSE.tryAgainLater),
    },
  );
  let isRunning = true;
  connection.operations += 1;

  function end(refusal?: Refusal): void {
    if (!isRunning) return;
    isRunning = false;
    connection.operations -= 1;
    subscription.end();
    resolve(refusal);
  }
  void subscription.live.then((refusal) => refusal && end(refusal));

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next(): Promise<IteratorResult<never, undefined>> {
      const refusal = await ended;
      if (refusal) throw new Refused(refusal);
      return DONE;
    },
    async return(): Promise<IteratorResult<never, undefined>> {
      end();
      return DONE;
    },
  };
}

/** What was refused, if that is what the error is about. */
export function refusalOf(error: GraphQLError | undefined): Refusal | undefined {
  const cause: unknown = error?.cause;
  if (cause instanceof Refused) return cause.refusal;
  return typeof cause === 'object' && cause !== null && isRefusal(cause) ? cause : undefined;
}
