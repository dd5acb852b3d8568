import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

import type { ExecutionResult, GraphQLError } from 'graphql';
import { type Context, type SubscribePayload, handleProtocols, makeServer } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';

import type { Limits } from '../../config.ts';
import type { Authenticator } from '../../viewer/authenticate.ts';
import { operationRejected } from '../client-error.ts';
import type { GatewayContext } from '../context.ts';
import { formatError } from '../json-response.ts';
import { type OpenConnections, createOpenConnections } from '../open-connections.ts';
import type { MaskError } from '../plugins/use-error-masking.ts';
import { isUnauthenticated } from '../plugins/use-viewer.ts';
import { paramsFrom } from '../request.ts';
import { isSubscription, prepareOperation } from '../run-operation.ts';
import type { ViewerConnections } from '../viewer-connections.ts';
import type { GatewayYoga } from '../yoga.ts';
import { CLOSE, WsConnection, WsSink } from './connection.ts';
import { createTurns } from './turns.ts';
import { rejectUpgrade, upgradeProblem } from './upgrade.ts';

export interface WebSocketParts {
  readonly yoga: GatewayYoga;
  readonly authenticate: Authenticator['authenticate'];
  readonly limits: Limits;
  readonly allowedOrigins: readonly string[];
  readonly viewers: ViewerConnections;
  readonly isServing: () => boolean;
  readonly maskError: MaskError;
  readonly onSlow: () => void;
}

export interface WebSockets {
  readonly open: OpenConnections<WsConnection>;
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
}

type ProtocolContext = Context<Record<string, unknown>, WsConnection>;

/** Nobody who means it sends a message in so many fragments. */
const MAX_FRAGMENTS = 64;
/** It stands in front of every event that is delivered. */
const MAX_ID_CHARACTERS = 128;
/** A ping's payload comes back in its pong: nobody needs more to tell one from another. */
const MAX_PING_BYTES = 128;

/** WebSocket `/graphql`: graphql-transport-ws, by graphql-ws, with operations that run through Yoga's plugins. */
export function createWebSockets(parts: WebSocketParts): WebSockets {
  const { limits, yoga, maskError } = parts;

  const protocol = makeServer<Record<string, unknown>, WsConnection>({
    connectionInitWaitTimeout: limits.socketInitMs,
    async onConnect({ connectionParams, extra }) {
      const { authorization, Authorization } = connectionParams ?? {};
      const given = authorization ?? Authorization;
      try {
        return extra.enter(await parts.authenticate(typeof given === 'string' ? given : undefined));
      } catch (error) {
        if (!isUnauthenticated(error)) maskError(error);
        return false;
      }
    },
    onPing({ extra }, payload) {
      if (payload && Buffer.byteLength(JSON.stringify(payload)) > MAX_PING_BYTES)
        extra.close(CLOSE.badRequest);
    },
    /** What is thrown here would close the socket for all of its operations, for good. */
    async onSubscribe(ctx, id, payload) {
      if (id.length > MAX_ID_CHARACTERS) ctx.extra.close(CLOSE.badRequest);
      try {
        return await prepared(ctx, payload);
      } catch (error) {
        return [maskError(error)];
      }
    },
    execute: (args) => yoga.getEnveloped().execute(args),
    subscribe: (args) => yoga.getEnveloped().subscribe(args),
    onOperation({ extra }, id, _payload, { contextValue }, result) {
      extra.order.settled(id);
      const { subscription } = contextValue as GatewayContext;
      if (!subscription) return 'data' in result ? undefined : rejected(result as ExecutionResult);
      subscription.sink = new WsSink(extra, id);
      return subscription;
    },
    onNext: (_ctx, _id, _payload, _args, { errors, data, extensions }) => ({
      ...(errors && { errors: errors.map(formatError) }),
      data: data ?? null,
      ...(extensions && { extensions }),
    }),
    onError({ extra }, id, _payload, errors) {
      extra.order.settled(id);
      return errors.flatMap((error) =>
        error.cause instanceof Rejected
          ? error.cause.errors.map(formatError)
          : [formatError(maskError(error))],
      );
    },
  });

  async function prepared({ extra, subscriptions }: ProtocolContext, payload: SubscribePayload) {
    const most = limits.operationsPerSocket;
    if (Object.keys(subscriptions).length > most) {
      const message = `A socket may run at most ${most} operations at once.`;
      return [operationRejected('BAD_USER_INPUT', message)];
    }
    const params = paramsFrom(payload);
    const context: GatewayContext = { requester: extra.viewer!, transport: 'ws', params };
    const operation = await prepareOperation(yoga.getEnveloped(context), params);
    if (!('document' in operation)) return operation.errors;
    isSubscription(operation);
    return operation;
  }

  const open = createOpenConnections<WsConnection>(limits.socketPingMs, {
    check: (connection, now, isLate) => connection.check(now, isLate),
    end: (connection) => connection.close(CLOSE.goingAway),
    destroy: ({ ws }) => ws.terminate(),
  });
  const pingEveryMs = limits.socketPingMs - open.checkMs;
  const { viewers, onSlow } = parts;
  const rules = { limits, pingEveryMs, viewers, onSlow };
  const allowedOrigins = new Set(parts.allowedOrigins);
  const inTurn = createTurns();
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: limits.frameBytes,
    maxFragments: MAX_FRAGMENTS,
    handleProtocols,
  });

  function accept(ws: WebSocket): void {
    const connection = new WsConnection(ws, rules);
    open.add(connection);
    ws.on('error', () => connection.release(CLOSE.badRequest, ''));
    ws.on('ping', () => connection.count());
    ws.on('pong', () => (connection.hasPonged = connection.count()));
    ws.on('close', (code, reason) => {
      connection.release(code, reason.toString());
      open.remove(connection);
    });
    const closed = protocol.opened(
      {
        protocol: ws.protocol,
        send: (text) => connection.send(text),
        close: (code = CLOSE.badRequest) => connection.close(code),
        onMessage(handle) {
          // graphql-ws throws for what makes no sense: a type that only servers send, for one.
          const onInvalid = (): void => connection.close(CLOSE.badRequest);
          const whileOpen = async (text: string) => connection.isOpen && handle(text);
          ws.on('message', (data: Buffer, isBinary: boolean) => {
            if (!connection.isOpen || !connection.count()) return;
            if (isBinary) onInvalid();
            else connection.order.handle(data.toString(), whileOpen).catch(onInvalid);
          });
        },
      },
      connection,
    );
    connection.onClosed = (code, reason) => void closed(code, reason);
  }

  return {
    open,
    upgrade(req, socket, head) {
      const problem = parts.isServing() ? upgradeProblem(req, allowedOrigins) : 503;
      if (problem !== undefined) return rejectUpgrade(socket, problem);
      // A client that leaves while it waits is no failure.
      socket.on('error', () => undefined);
      inTurn(() => server.handleUpgrade(req, socket, head, accept));
    },
  };
}

/** An operation that was not executed. graphql-ws tells a client so with an `error` message where its results throw. */
class Rejected extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('rejected');
    this.errors = errors;
  }
}

const rejected = ({ errors = [] }: ExecutionResult): AsyncIterable<never> => ({
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Rejected(errors)) }),
});
