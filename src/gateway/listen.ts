import { readFileSync } from 'node:fs';
import { STATUS_CODES, type Server, createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import { type Config, ConfigError } from '../config.ts';
import type { Gateway } from './gateway.ts';

export type Listening = Awaited<ReturnType<typeof listen>>;

/** After a restart all clients reconnect in the same second. The system may allow fewer. */
const BACKLOG = 4_096;
/** How long clients may take to close their subscriptions. */
const CLOSE_GRACE_MS = 3_000;
/** How long running requests may take to finish after the signal to stop. */
const DRAIN_MS = 10_000;
/** How soon a connection is closed after its last response. */
const SWEEP_MS = 50;

/** A response for connections without a parsed request. */
export const rawResponse = (status: number, requestId?: string): string =>
  `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${requestId ? `X-Request-Id: ${requestId}\r\n` : ''}X-Content-Type-Options: nosniff\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;

/**
 * Serves HTTP and WebSocket until it is disposed of, which finishes running requests. `onRefused` gets the number of
 * connections refused since its last call.
 */
export async function listen(
  app: Pick<Gateway, 'handle' | 'upgrade' | 'endSubscriptions'>,
  { http, limits, upstream }: Config,
  onRefused: (count: number) => void,
) {
  const { host, port } = http;
  const { headersMs, requestMs } = limits;
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(headersMs, 1_000),
    // Some HTTP clients offer h2c with every request, and accept an HTTP/1.1 response.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
  });
  server.on('request', app.handle);
  server.on('upgrade', app.upgrade);
  const open = limitConnections(server, upstream.maxConcurrency, onRefused);
  // Node takes a connection for idle as soon as its response is buffered, even if the client is still reading it. So
  // none is closed while any client is reading. `close` calls this function too.
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    if (!open.areWriting()) closeIdle();
  };
  // This server is not a proxy. Node leaves the socket without a listener for errors, which would end the process.
  server.on('connect', (_req, socket) => {
    socket.on('error', () => undefined);
    socket.end(rawResponse(405), () => socket.destroy());
  });
  let serving = true;

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explained(error, http)));
    server.listen({ port, host, backlog: BACKLOG }, resolve);
  });
  // A connection that can't be accepted. Without a listener it would end the process.
  server.on('error', () => onRefused(1));
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;

  /** Still answers, with `Connection: close`, so that keep-alive clients do not meet a reset later. */
  function retire(): void {
    if (!serving) return;
    serving = false;
    server.prependListener('request', (_req, res) => res.setHeader('connection', 'close'));
  }

  return {
    url: `http://${name.includes(':') ? `[${name}]` : name}:${(server.address() as AddressInfo).port}`,
    /** False once `retire` was called or closing began. */
    isServing: () => serving,
    retire,
    async [Symbol.asyncDispose]() {
      retire();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      open.stop();
      open.closeSilent(0);
      const sweepTimer = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
      const drainTimer = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      await app.endSubscriptions(CLOSE_GRACE_MS);
      await closed;
      clearInterval(sweepTimer);
      clearTimeout(drainTimer);
    },
  };
}

/** Why the port can't be opened and what to do, in one line. */
function explained(error: NodeJS.ErrnoException, { host, port }: Config['http']): Error {
  const advice: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} is taken by another process: stop it, or set PORT to a free one.`,
    EACCES: `Port ${port} may not be opened: set PORT above 1023.`,
    EADDRNOTAVAIL: `HOST ${host} is no address of this machine.`,
  };
  const message = advice[error.code ?? ''];
  return message ? new ConfigError(message) : error;
}

/** More open sockets than this are a mistake or an attack. */
const MAX_CONNECTIONS = 30_000;
const MIN_CONNECTIONS = 16;
/** File descriptors for the store and the server itself. Without them the system refuses every connection. */
const OWN_DESCRIPTORS = 64;
/** Past this share, connections without any traffic are closed to make room for others. */
const NEARLY_FULL = 0.9;
const CHECK_EVERY_MS = 250;
const LOG_EVERY_MS = 10_000;
const SILENT_MS = 1_000;

/**
 * Keeps connections below the system's limit, so that a webhook is still accepted when thousands are open. Closes
 * unused ones: browsers open connections ahead of need, and Node takes them for busy.
 */
function limitConnections(server: Server, callsAtOnce: number, onRefused: (count: number) => void) {
  const most = Math.min(MAX_CONNECTIONS, descriptors() - OWN_DESCRIPTORS - callsAtOnce);
  server.maxConnections = Math.max(MIN_CONNECTIONS, most);
  let open: { readonly socket: Socket; readonly since: number }[] = [];
  let [loggedAt, refused] = [Number.NEGATIVE_INFINITY, 0];

  /** Closes connections that have sent nothing for this long. */
  function closeSilent(ms: number): void {
    const until = performance.now() - ms;
    for (const { socket, since } of open)
      if (since <= until && socket.bytesRead === 0) socket.destroy();
  }

  // Polled, since a listener per connection would take memory for thousands of subscribers.
  const checking = setInterval(() => {
    open = open.filter(({ socket }) => !socket.destroyed);
    if (open.length >= server.maxConnections * NEARLY_FULL) closeSilent(SILENT_MS);
  }, CHECK_EVERY_MS).unref();
  server.on('connection', (socket) => open.push({ socket, since: performance.now() }));
  server.on('drop', () => {
    refused += 1;
    if (performance.now() - loggedAt < LOG_EVERY_MS) return;
    onRefused(refused);
    [loggedAt, refused] = [performance.now(), 0];
  });

  return {
    closeSilent,
    /** Whether any client has not yet received all that was written. */
    areWriting: () => open.some(({ socket }) => !socket.destroyed && socket.writableLength > 0),
    stop: () => clearInterval(checking),
  };
}

/** The limit of this process, for sockets and files together. Not every system shows it. */
function descriptors(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
