import { GraphQLError, type GraphQLSchema } from 'graphql';
import { type SubscribePayload, makeServer } from 'graphql-ws';

import type { Viewer } from '../viewer/viewer.ts';
import type { FanOut } from './fan-out.ts';
import { readOperationRequest } from './operation-request.ts';
import type { Pipeline, Prepared } from './pipeline.ts';
import { type Refusal, isRefusal, refuse, refuseWith } from './refusal.ts';
import { CLOSE } from './ws-close.ts';
import { type WsConnection, close, welcome } from './ws-connection.ts';
import { isLongId, isLongPing } from './ws-limits.ts';
import { openOperation, register } from './ws-operation.ts';

export interface ProtocolParts {
  readonly schema: GraphQLSchema;
  readonly pipeline: Pipeline;
  readonly fanOut: FanOut;
  readonly authenticate: (authorization: string | undefined) => Promise<Viewer>;
  readonly limits: { readonly socketInitMs: number; readonly operationsPerSocket: number };
  readonly onRefused: (refusal: Refusal) => void;
  readonly onMasked: (cause: unknown) => void;
}

/** graphql-ws runs the protocol; what an operation may do, and what it gets, is decided as at every other door. */
export function createProtocol(parts: ProtocolParts) {
  const { schema, pipeline, fanOut, limits } = parts;

  async function admit(connection: WsConnection, authorization: unknown): Promise<boolean> {
    try {
      const text = typeof authorization === 'string' ? authorization : undefined;
      return welcome(connection, await parts.authenticate(text));
    } catch (error) {
      if (!isUnauthenticated(error)) parts.onMasked(error);
      return false;
    }
  }

  function prepare(connection: WsConnection, payload: SubscribePayload): Prepared | Refusal {
    if (connection.operations >= limits.operationsPerSocket) {
      return tooMany(limits.operationsPerSocket);
    }
    const request = readOperationRequest(payload);
    if (isRefusal(request)) return request;
    const prepared = pipeline.prepare(request, connection.viewer!);
    return isRefusal(prepared) || prepared.kind === 'subscription' ? prepared : subscriptionsOnly;
  }

  /** A refusal is an answer to this operation; thrown, it would close the socket for all of them, for good. */
  function prepareSafely(connection: WsConnection, payload: SubscribePayload): Prepared | Refusal {
    try {
      return prepare(connection, payload);
    } catch (error) {
      parts.onMasked(error);
      return unexpected;
    }
  }

  const server = makeServer<Record<string, unknown>, WsConnection>({
    connectionInitWaitTimeout: limits.socketInitMs,
    onConnect(ctx) {
      const { authorization, Authorization } = ctx.connectionParams ?? {};
      // It would be kept for as long as the socket lives, and a token is in it.
      Object.assign(ctx, { connectionParams: undefined });
      return admit(ctx.extra, authorization ?? Authorization);
    },
    onPing({ extra }, payload) {
      if (isLongPing(payload)) close(extra, CLOSE.badRequest);
    },
    onSubscribe(ctx, id, payload) {
      if (isLongId(id)) close(ctx.extra, CLOSE.badRequest);
      const prepared = prepareSafely(ctx.extra, payload);
      if (isRefusal(prepared)) {
        parts.onRefused(prepared);
        return [new GraphQLError('', { cause: prepared })];
      }
      const operation = openOperation(ctx, id, prepared, fanOut);
      ctx.extra.onHandled = () => register(operation);
      return { schema, document: prepared.args.document, operationName: prepared.name };
    },
    subscribe: () => NOTHING,
    // As if the client had completed it meanwhile: nothing is iterated, and nothing said.
    onOperation: ({ subscriptions }, id) => void delete subscriptions[id],
    onError: (_ctx, _id, _payload, [error]) => refusalIn(error).errors,
  });

  return server.opened;
}

/** Done before it begins. */
const NOTHING: AsyncIterable<never> = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
};

const subscriptionsOnly = refuse(
  'BAD_USER_INPUT',
  'Over WebSocket there are subscriptions only: send queries and mutations over HTTP.',
);

const unexpected = refuseWith(
  [{ message: 'Unexpected error.', extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
  500,
);

const tooMany = (most: number): Refusal =>
  refuse('BAD_USER_INPUT', `A socket may run at most ${most} operations at once.`);

function refusalIn(error: GraphQLError | undefined): Refusal {
  const cause: unknown = error?.cause;
  return typeof cause === 'object' && cause !== null && isRefusal(cause) ? cause : unexpected;
}

const isUnauthenticated = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'UNAUTHENTICATED';
