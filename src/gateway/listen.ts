import { once } from 'node:events';
import { STATUS_CODES, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import type { Config } from '../config.ts';
import { endOfTurn } from '../end-of-turn.ts';
import type { Gateway } from './gateway.ts';
import { createLimit, maxConnections } from './open-connections.ts';

/** How long running requests may take to finish after the signal to stop. */
const DRAIN_MS = 10_000;
/** How long they may take to answer once their calls were ended. */
const ANSWER_MS = 1_000;

/** A response that is written to the socket itself: upgrades and CONNECT have no `ServerResponse`. */
export const rawResponse = (status: number, requestId?: string): string =>
  `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${requestId ? `X-Request-Id: ${requestId}\r\n` : ''}X-Content-Type-Options: nosniff\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;

/**
 * Serves HTTP and WebSocket until it is disposed of, which finishes running requests. Once the shutdown has begun,
 * requests are still answered, with `Connection: close`: load balancers need a moment to notice.
 */
export async function listen(gateway: Gateway, config: Config, shutdown: AbortController) {
  const { host, port } = config.http;
  const { limits } = config;
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    // Longer than proxies keep idle connections: a request that is sent while the server closes one would fail.
    keepAliveTimeout: 75_000,
    connectionsCheckingInterval: Math.min(limits.headersMs, 1_000),
    // Some HTTP clients offer h2c with every request, and accept an HTTP/1.1 response.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
  });
  server.maxConnections = maxConnections(config);
  /** For a client that does not read its response. An operation takes less than this, with its writes. */
  const idleMs = limits.requestMs + Math.max(limits.requestMs, limits.operationMs);
  const { unused, idle, running } = limitConnections(server, gateway.onRefused);
  function onResponseClosed(this: ServerResponse): void {
    const { req } = this;
    const { socket } = req;
    running.release(socket);
    if (!running.used.has(socket) && !socket.destroyed) idle.add(socket);
    if (!this.writableFinished) gateway.abortReads(this);
    // Node reads the rest of a body, however long it is. Closing at once, and not 500 ms later, could lose the response.
    if (!req.complete) setTimeout(() => req.complete || socket.destroy(), 500).unref();
  }
  server.on('request', (req, res) => {
    const { socket } = req;
    // Node emits all pipelined requests of a connection before the first is answered. Too many close the connection.
    if (!running.acquire(socket)) return void socket.destroy();
    unused.delete(socket);
    idle.delete(socket);
    // Not `server.timeout`, which would keep a timer in memory for each WebSocket.
    socket.setTimeout(idleMs);
    res.on('close', onResponseClosed);
    // Otherwise a keep-alive client would send its next request to a connection that is being closed.
    if (shutdown.signal.aborted) res.setHeader('connection', 'close');
    // The client may have left in this turn.
    void endOfTurn().then(() => res.closed || gateway.handle(req, res));
  });
  server.on('upgrade', (req, socket, head) => {
    // Its response would overtake that of a request before it on the connection.
    if (running.used.has(req.socket)) return void socket.destroy();
    unused.delete(req.socket);
    idle.delete(req.socket);
    gateway.upgrade(req, socket, head);
  });
  // This server is not a proxy. Node leaves the socket without a listener for errors, which would end the process.
  server.on('connect', (req, socket) => {
    socket.on('error', () => undefined);
    if (running.used.has(req.socket)) return void socket.destroy();
    socket.end(rawResponse(405), () => socket.destroy());
  });

  // After a restart all clients reconnect in the same second. The system may allow fewer.
  server.listen({ port, host, backlog: 4_096 });
  await once(server, 'listening').catch((error: Error) => {
    throw new Error(`HOST and PORT can't be listened on: ${error.message}`, { cause: error });
  });
  server.on('drop', gateway.onRefused);
  // A connection that can't be accepted. Without a listener it would end the process.
  server.on('error', gateway.onRefused);
  const hostname = host === '0.0.0.0' || host === '::' ? 'localhost' : host;

  const isRunning = () => running.used.size > 0 || gateway.hasRunningOperations();
  /** Whether all operations end and all responses are sent in this time. Requests that are on their way get 50 ms. */
  async function answeredWithin(ms: number): Promise<boolean> {
    const deadline = performance.now() + ms;
    do await delay(50);
    while (isRunning() && performance.now() < deadline);
    return !isRunning();
  }

  return {
    url: `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      shutdown.abort();
      // `close` calls this. To Node a connection is idle as soon as its response is buffered, even if the client is still
      // reading it, and busy if no request has come on it yet.
      server.closeIdleConnections = () => undefined;
      const closed = once(server.close(), 'close');
      gateway.closeSocketsAndStreams(DRAIN_MS + ANSWER_MS);
      if (!(await answeredWithin(DRAIN_MS))) {
        // Before connections are closed, the outcomes are sent, audited and stored under their idempotency keys.
        await gateway.endCalls();
        await answeredWithin(ANSWER_MS);
      }
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Keeps room for new connections: closes some that never send a request and, when 90 % of all are open, idle ones. */
function limitConnections(server: Server, onRefused: () => void) {
  let open = 0;
  /** Connections without a request so far, oldest first. */
  const unused = new Set<Socket>();
  /** Connections whose last request is answered, the longest idle first. */
  const idle = new Set<Socket>();
  /** Requests of each connection whose responses are not sent completely: the current one and the pipelined ones. */
  const running = createLimit<Socket>(17);
  /** One for all connections: a function for each would take a twentieth of a subscriber's memory. */
  function onClosed(this: Socket): void {
    open -= 1;
    for (const group of [unused, idle, running.used]) group.delete(this);
  }
  server.on('connection', (socket) => {
    open += 1;
    unused.add(socket);
    socket.on('close', onClosed);
    /** How many may be open besides those with a running request and WebSockets. */
    const left = server.maxConnections - (open - unused.size - idle.size);
    if (unused.size > left * 0.75) {
      unused.values().next().value?.destroy();
      onRefused();
    } else if (open > server.maxConnections * 0.9) {
      idle.values().next().value?.destroy();
    }
  });
  return { unused, idle, running };
}
