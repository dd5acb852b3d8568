import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ExecutionResult, GraphQLError } from 'graphql';
import { type Context, type SubscribePayload, handleProtocols, makeServer } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';

import type { Limits } from '../../config.ts';
import type { Authenticator } from '../../viewer/authenticate.ts';
import { operationRejected } from '../client-error.ts';
import type { GatewayContext } from '../context.ts';
import { formatError } from '../json-response.ts';
import {
  type OpenConnections,
  type ViewerConnections,
  createOpenConnections,
} from '../open-connections.ts';
import type { Origins } from '../origins.ts';
import type { MaskError } from '../plugins/use-error-masking.ts';
import type { OnRejected } from '../plugins/use-request-limits.ts';
import { isUnauthenticated } from '../plugins/use-viewer.ts';
import { paramsFrom } from '../request.ts';
import { newRequestId } from '../request-id.ts';
import { isSubscription, prepareOperation } from '../run-operation.ts';
import type { TrustedDocuments } from '../trusted-documents.ts';
import type { GatewayYoga } from '../yoga.ts';
import { CLOSE, WsConnection, WsSink } from './connection.ts';

export interface WebSocketParts {
  readonly yoga: GatewayYoga;
  readonly trusted: TrustedDocuments | undefined;
  readonly authenticate: Authenticator['authenticate'];
  readonly limits: Limits;
  readonly origins: Origins;
  readonly onRejected: OnRejected;
  readonly viewers: ViewerConnections;
  readonly isServing: () => boolean;
  readonly maskError: MaskError;
  readonly onSlow: () => void;
}

export interface WebSockets {
  readonly open: OpenConnections;
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
  /** One for each operation, by the message that asked for it. */
  const requestIds = new WeakMap<SubscribePayload, string>();

  const protocol = makeServer<Record<string, unknown>, WsConnection>({
    connectionInitWaitTimeout: limits.socketInitMs,
    ...(parts.trusted && { jsonMessageReviver: withQuery }),
    async onConnect({ connectionParams, extra }) {
      const { authorization, Authorization } = connectionParams ?? {};
      const given = authorization ?? Authorization;
      // graphql-ws keeps the parameters as long as the socket is open.
      if (connectionParams)
        Object.assign(connectionParams, { authorization: undefined, Authorization: undefined });
      try {
        return extra.enter(await parts.authenticate(typeof given === 'string' ? given : undefined));
      } catch (error) {
        if (isUnauthenticated(error)) {
          parts.onRejected('UNAUTHENTICATED');
          extra.closeWithReason(CLOSE.forbidden, error.message);
        } else maskError(error);
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
      const requestId = newRequestId();
      requestIds.set(payload, requestId);
      try {
        return await prepared(ctx, payload, requestId);
      } catch (error) {
        return [maskError(error, requestId)];
      }
    },
    execute: (args) => yoga.getEnveloped().execute(args),
    subscribe: (args) => yoga.getEnveloped().subscribe(args),
    onOperation({ extra }, id, payload, args, result) {
      extra.settled(id);
      const { subscription } = args.contextValue as GatewayContext;
      if (!subscription) return 'data' in result ? undefined : rejected(result as ExecutionResult);
      // graphql-ws keeps them as long as the subscription runs: with them a subscriber takes a third more memory.
      Object.assign(payload, { query: '', variables: undefined });
      Object.assign(args, { contextValue: undefined, variableValues: undefined });
      subscription.sink = new WsSink(extra, id);
      return subscription;
    },
    onNext: (_ctx, _id, payload, _args, { errors, data, extensions }) => ({
      ...(errors && { errors: errors.map((e) => formatError(e, requestIds.get(payload))) }),
      data: data ?? null,
      ...(extensions && { extensions }),
    }),
    onError({ extra }, id, payload, thrown) {
      extra.settled(id);
      const requestId = requestIds.get(payload);
      const errors = thrown.flatMap((error) =>
        error.cause instanceof Rejected ? error.cause.errors : [maskError(error, requestId)],
      );
      parts.onRejected(String(errors[0]?.extensions['code']), requestId);
      return errors.map((error) => formatError(error, requestId));
    },
  });

  async function prepared(
    { extra, subscriptions }: ProtocolContext,
    payload: SubscribePayload,
    requestId: string,
  ) {
    const most = limits.operationsPerSocket;
    if (Object.keys(subscriptions).length > most) {
      const message = `A socket may run at most ${most} operations at once.`;
      return [operationRejected('BAD_USER_INPUT', message)];
    }
    const params = paramsFrom(payload, parts.trusted);
    const context: GatewayContext = {
      requestId,
      requester: extra.viewer!,
      transport: 'ws',
      params,
    };
    const operation = await prepareOperation(yoga.getEnveloped(context), params);
    if (!('document' in operation)) return operation.errors;
    isSubscription(operation);
    return operation;
  }

  const open = createOpenConnections(limits.socketPingMs);
  const pingEveryMs = limits.socketPingMs - open.checkMs;
  const { viewers, onSlow } = parts;
  const rules = { limits, pingEveryMs, viewers, onSlow };
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
    ws.on('message', (data: Buffer, isBinary: boolean) => connection.receive(data, isBinary));
    ws.on('close', (code, reason) => {
      connection.release(code, reason.toString());
      open.remove(connection);
    });
    connection.onClosed = protocol.opened(connection, connection);
  }

  return {
    open,
    upgrade(req, socket, head) {
      const problem = parts.isServing() ? upgradeProblem(req, parts.origins) : 503;
      if (problem !== undefined) return rejectUpgrade(socket, problem);
      // A client that leaves while it waits is no failure.
      socket.on('error', ignoreError);
      inTurn(() => server.handleUpgrade(req, socket, head, accept));
    },
  };
}

/** graphql-ws closes the socket of a client that sends an id and no "query". */
function withQuery(key: string, value: unknown): unknown {
  const { type, payload } = Object(value) as { type?: unknown; payload?: Record<string, unknown> };
  const isOperation = key === '' && type === 'subscribe' && typeof payload === 'object';
  return isOperation ? { ...(value as object), payload: { query: '', ...payload } } : value;
}

/** Here, so that the listener of a socket does not keep the request it was opened by. */
const ignoreError = (): void => undefined;

/** Two thousand a second: five thousand clients are back within three. */
const AT_ONCE = 50;
const EVERY_MS = 25;

/**
 * After a restart everyone comes back in the same second: handshakes take turns, so that queries and webhooks are
 * answered in between. One that comes alone does not wait.
 */
function createTurns(): (task: () => void) => void {
  const waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let taken = 0;

  function next(): void {
    const turn = waiting.splice(0, AT_ONCE);
    taken = turn.length;
    for (const task of turn) task();
    if (taken > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return (task) => {
    timer ??= setInterval(next, EVERY_MS).unref();
    if (taken >= AT_ONCE) {
      waiting.push(task);
      return;
    }
    taken += 1;
    task();
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

/** As many as Node keeps; past them it drops the rest, and what is left can't be trusted. */
const MOST_HEADERS = 2_000;

/** The status with which an upgrade is rejected, or undefined. */
function upgradeProblem(req: IncomingMessage, origins: Origins): number | undefined {
  const { url = '/', rawHeaders, headers } = req;
  if (rawHeaders.length >= 2 * MOST_HEADERS) return 431;
  const [path, ...query] = url.split('?');
  if (path !== '/graphql') return 404;
  // Tokens in URLs end up in logs: there is nothing that may be said in one.
  if (query.length > 0) return 400;
  // Browsers always say where the page came from, and let any page open a socket to anywhere.
  return origins.admits(headers.origin, headers.host) ? undefined : 403;
}

function rejectUpgrade(socket: Duplex, status: number): void {
  socket.on('error', () => undefined);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    () => socket.destroy(),
  );
}
