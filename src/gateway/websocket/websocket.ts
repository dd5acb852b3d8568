import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { type ExecutionResult, parse } from 'graphql';
import { CloseCode, handleProtocols, makeServer } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';

import type { CodedError } from '../../errors.ts';
import { REQUEST_ID_HEADER, assignRequestId, requestIdOf } from '../../observability/request-id.ts';
import { schema } from '../../schema/schema.ts';
import type { Unauthenticated } from '../../viewer/authenticate.ts';
import { forClient, operationRejected } from '../client-error.ts';
import { rawResponse } from '../listen.ts';
import { paramsFrom, runOperation } from '../run-operation.ts';
import { type Sink, Subscription } from '../subscriptions/subscriptions.ts';
import type { Backlog } from '../open-connections.ts';
import type { GatewayContext, GatewayParts, GatewayYoga } from '../gateway.ts';
import { TRY_AGAIN_LATER, WsConnection, bytesOf, isMutation } from './connection.ts';

/** For graphql-ws, which needs a document to execute. The operation itself is in the context. */
const ANY_DOCUMENT = parse('{ __typename }');

/** WebSocket `/graphql`: graphql-transport-ws, by graphql-ws, with operations that run through Yoga's plugins. */
export function createWebSockets(parts: GatewayParts, yoga: GatewayYoga) {
  const { maskError, documentOf, observer, connections } = parts;
  const { limits } = parts.config;

  const protocol = makeServer<Record<string, unknown>, WsConnection>({
    connectionInitWaitTimeout: limits.socketInitMs,
    async onConnect({ connectionParams, extra }) {
      const { authorization, Authorization } = connectionParams ?? {};
      const given = authorization ?? Authorization;
      // graphql-ws keeps the parameters as long as the socket is open, so the token is removed from them.
      Object.assign(connectionParams ?? {}, { authorization: undefined, Authorization: undefined });
      try {
        const viewer = await parts.authenticate(typeof given === 'string' ? given : undefined);
        // Two turns: ws emits one message a turn, and an operation sent along with this one must precede its `ack`.
        await nextTurn();
        await nextTurn();
        return extra.setViewer(viewer);
      } catch (error) {
        const { code, message, reason } = error as CodedError & Partial<Unauthenticated>;
        observer.rejected(code, { requestId: extra.requestId, reason });
        if (code === 'UNAUTHENTICATED') extra.close(CloseCode.Forbidden, message);
        else extra.close(TRY_AGAIN_LATER);
        return false;
      }
    },
    onPing({ extra }, payload) {
      // The pong returns the payload. 128 bytes are enough for a client to match pings and pongs.
      if (payload && Buffer.byteLength(JSON.stringify(payload)) > 128) extra.close();
    },
    onSubscribe({ extra, subscriptions }, id, payload) {
      // The id is sent with every event.
      if (id.length > 128) extra.close();
      const contextValue = new SocketOperation(id, extra, (context) =>
        resultOf(context, payload, Object.keys(subscriptions).length),
      );
      return { schema, document: ANY_DOCUMENT, contextValue };
    },
    execute: ({ contextValue }) => contextValue as SocketOperation,
    /** graphql-ws wraps what an iterator throws. */
    onError: (_ctx, _id, _payload, [error]) =>
      (error!.cause as Partial<AggregateError>).errors ?? [],
  });

  /** If the operation was not executed, throws its errors, and the client gets an `error` message and not a result. */
  async function resultOf(context: GatewayContext, payload: object, running: number) {
    const { requestId } = context;
    const max = limits.operationsPerSocket;
    const tooMany = `A socket may run at most ${max} operations at once.`;
    let result: ExecutionResult | Subscription;
    try {
      if (running > max) throw operationRejected('BAD_USER_INPUT', tooMany);
      const params = paramsFrom(payload, documentOf);
      // graphql-ws keeps it as long as the subscription runs: with it a subscriber takes a third more memory.
      Object.assign(payload, { query: '', variables: undefined, extensions: undefined });
      result = await runOperation(yoga, parts, context, params);
    } catch (error) {
      result = { errors: [maskError(error, requestId)] };
    }
    if (result instanceof Subscription) return result;
    const response = forClient(result, requestId);
    if ('data' in response) return response;
    const code = String(response.errors?.[0]?.extensions['code']);
    observer.rejected(code, { requestId, name: context.operationName });
    throw new AggregateError(response.errors ?? []);
  }

  /** One per turn of the event loop, so that others are answered too when all clients reconnect after a restart. */
  let handshakes: Promise<void> = Promise.resolve();
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    // graphql-ws takes a few microtasks for a message, and the next one of the same operation has to find it handled.
    allowSynchronousEvents: false,
    maxPayload: limits.frameBytes,
    // Clients send a message in one fragment, or a few.
    maxFragments: 64,
    handleProtocols,
  });

  parts.metrics.watch(() => ({
    sockets: [...connections.open].filter((each) => each instanceof WsConnection).length,
  }));
  server.on('headers', (lines, req) => lines.push(`${REQUEST_ID_HEADER}: ${requestIdOf(req)}`));

  function accept(ws: WebSocket, req: IncomingMessage): void {
    const connection = new WsConnection(ws, requestIdOf(req), parts);
    connections.open.add(connection);
    ws.on('error', () => connection.release());
    ws.on('ping', () => connection.countMessage());
    ws.on('pong', () => (connection.hasPonged = connection.countMessage()));
    ws.on('close', () => {
      connection.release();
      connections.open.delete(connection);
    });
    connection.onClosed = protocol.opened(connection, connection);
  }

  return (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const requestId = assignRequestId(req);
    const problem = upgradeProblem(req, parts);
    // A client that leaves while it waits is no failure.
    socket.on('error', ignoreError);
    if (problem) return void socket.end(rawResponse(problem, requestId), () => socket.destroy());
    handshakes = handshakes
      .then(() => nextTurn())
      .then(() => {
        const isAccepted = parts.isServing() && !connections.isFull();
        if (isAccepted) server.handleUpgrade(req, socket, head, accept);
        else socket.destroy();
      })
      .catch((error: unknown) => {
        socket.destroy();
        parts.onUnexpected(error, requestId);
      });
  };
}

type Result = IteratorResult<ExecutionResult, undefined>;
const DONE: Result = { done: true, value: undefined };
type Run = (context: GatewayContext) => Promise<ExecutionResult | Subscription>;

/**
 * An operation as graphql-ws iterates it. It exists before its result does, so that its client can complete it at any
 * time. A query has one result. The results of a subscription are sent past graphql-ws, and `next` stays pending.
 */
class SocketOperation implements AsyncIterableIterator<ExecutionResult, undefined>, Sink {
  readonly #connection: WsConnection;
  /** What comes before each result of a subscription. */
  readonly #head: string;
  readonly #answer = Promise.withResolvers<Result>();
  /** Undefined once it has begun. */
  #run: Run | undefined;
  /** The context until there is a result. Undefined before it has begun, and once its client has completed it. */
  #current: GatewayContext | Subscription | undefined;

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
    // The operation is not begun. It stays pending until the socket closes, and its client repeats it on a new one.
    const { endCode, isExpired } = this.#connection;
    if (endCode || isExpired) return this.#answer.promise;
    this.#begin(this.#run).catch(this.#answer.reject);
    this.#run = undefined;
    return this.#answer.promise;
  }

  async #begin(run: Run): Promise<void> {
    const context = { requestId: randomUUID(), viewer: this.#connection.viewer!, sink: this };
    this.#current = context;
    this.#connection.running += 1;
    const result = await run(context).finally(() => (this.#connection.running -= 1));
    this.#connection.hasUnsentOutcome ||= isMutation(context);
    if (!(result instanceof Subscription)) return this.#answer.resolve({ value: result });
    if (this.#current) this.#current = result;
    else result.end();
  }

  get backlog(): Backlog | undefined {
    return this.#connection.backlog;
  }

  prepare(json: string): () => void {
    const text = `${this.#head}${json}}`;
    const bytes = bytesOf(text);
    return () => this.#connection.deliver(text, bytes);
  }

  end(): void {
    this.#connection.end(TRY_AGAIN_LATER);
  }

  /** Ends it immediately. Reads are aborted; a write that was sent is not. */
  return(): Promise<Result> {
    if (this.#current instanceof Subscription) this.#current.end();
    else if (this.#current) {
      this.#current.isAbandoned = true;
      this.#current.resolverContext?.usage.end();
    }
    this.#current = undefined;
    this.#answer.resolve(DONE);
    return Promise.resolve(DONE);
  }
}

/** Declared here, so that a socket's listener does not keep its request in memory. */
const ignoreError = (): void => undefined;

/** The status with which an upgrade is rejected, or undefined. */
function upgradeProblem(req: IncomingMessage, parts: GatewayParts): number | undefined {
  if (!parts.isServing() || parts.isShortOfMemory() || parts.connections.isFull()) return 503;
  const [path, ...query] = (req.url ?? '/').split('?');
  if (path !== '/graphql') return 404;
  // Tokens in URLs end up in logs, so no query string is accepted.
  if (query.length > 0) return 400;
  // Browsers send the page's origin, and let any page open a socket to any host.
  return parts.origins.allows(req) ? undefined : 403;
}
