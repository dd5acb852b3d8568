import { type ExecutionArgs, GraphQLError, type GraphQLSchema } from 'graphql';
import { type SubscribePayload, makeServer } from 'graphql-ws';

import type { Viewer } from '../viewer/viewer.ts';
import type { FanOut } from './fan-out.ts';
import { readOperationRequest } from './operation-request.ts';
import type { Pipeline, Prepared } from './pipeline.ts';
import { type Refusal, isRefusal, refuse, refuseWith } from './refusal.ts';
import { CLOSE } from './ws-close.ts';
import type { WsConnection } from './ws-connection.ts';
import { isLongId, isLongPing } from './ws-limits.ts';
import { type WsOperation, openOperation, refusalOf } from './ws-operation.ts';

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
      return connection.welcome(await parts.authenticate(text));
    } catch (error) {
      if (!isUnauthenticated(error)) parts.onMasked(error);
      return false;
    }
  }

  function prepare(connection: WsConnection, payload: SubscribePayload): Prepared | Refusal {
    if (!connection.mayBegin()) return tooMany(limits.operationsPerSocket);
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

  return makeServer<Record<string, unknown>, WsConnection>({
    connectionInitWaitTimeout: limits.socketInitMs,
    onConnect(ctx) {
      const { authorization, Authorization } = ctx.connectionParams ?? {};
      // It would be kept for as long as the socket lives, and a token is in it.
      Object.assign(ctx, { connectionParams: undefined });
      return admit(ctx.extra, authorization ?? Authorization);
    },
    onPing({ extra }, payload) {
      if (isLongPing(payload)) extra.close(CLOSE.badRequest);
    },
    onSubscribe({ extra: connection }, id, payload) {
      if (isLongId(id)) connection.close(CLOSE.badRequest);
      const prepared = prepareSafely(connection, payload);
      // The message is kept for as long as the operation runs; its text has been read.
      Object.assign(payload, { query: '', variables: undefined });
      if (isRefusal(prepared)) {
        parts.onRefused(prepared);
        return [new GraphQLError('', { cause: prepared })];
      }
      const { document } = prepared.args;
      const contextValue: WsOperation = { id, connection, prepared };
      return { schema, document, operationName: prepared.name, rootValue: null, contextValue };
    },
    subscribe: ({ contextValue }: ExecutionArgs) =>
      openOperation(contextValue as WsOperation, fanOut),
    onError(_ctx, _id, _payload, [error]) {
      const refusal = refusalOf(error);
      if (!refusal) parts.onMasked(error?.originalError);
      return (refusal ?? unexpected).errors;
    },
  });
}

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

const isUnauthenticated = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'UNAUTHENTICATED';
