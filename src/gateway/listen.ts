import { readFileSync } from 'node:fs';
import { STATUS_CODES, type Server, ServerResponse, createServer } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';

import type { Gateway } from './gateway.ts';

interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly headersMs: number;
  readonly requestMs: number;
  /** Connections that the gateway may open itself. */
  readonly callsAtOnce: number;
  /** So many connections were refused since it was called last. */
  readonly onRefused: (count: number) => void;
}

export type Listening = Awaited<ReturnType<typeof listen>>;

/** After a restart everyone comes back in the same second. The system may allow fewer. */
const BACKLOG = 4_096;
/** How long clients may take to agree that their subscriptions are over. */
const CLOSE_GRACE_MS = 3_000;
/** How long requests under way may take to finish once the process is told to stop. */
const DRAIN_MS = 10_000;
/** A connection whose last answer is out is closed so soon after it. */
const SWEEP_MS = 50;

/** Browsers must not guess another content type. Set here, the header is on the errors that Node makes itself, too. */
const NoSniffResponse = class extends ServerResponse {
  constructor(...args: ConstructorParameters<typeof ServerResponse>) {
    super(...args);
    this.setHeader('x-content-type-options', 'nosniff');
  }
};

/** What Node answers to requests that it can't parse; to all others 400. */
const PARSE_ERRORS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** For connections without a request that could be answered. */
export const rawResponse = (status: number, requestId?: string): string =>
  `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${requestId ? `X-Request-Id: ${requestId}\r\n` : ''}X-Content-Type-Options: nosniff\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;

/** Serves HTTP and WebSocket until it is disposed of, which finishes what is under way. */
export async function listen(
  app: Pick<Gateway, 'handle' | 'upgrade' | 'endSubscriptions'>,
  options: ListenOptions,
) {
  const { host, port, headersMs, requestMs } = options;
  const server = createServer({
    ServerResponse: NoSniffResponse,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(headersMs, 1_000),
    // Some HTTP clients offer h2c with every request: that is declined by answering it.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
  });
  server.on('request', app.handle);
  server.on('upgrade', app.upgrade);
  const open = limitConnections(server, options);
  // Also called by `close`. To Node a connection is idle once its answer was handed over, whether it is on its way or not:
  // while a slow client still takes one, none is closed.
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    if (!open.areWriting()) closeIdle();
  };
  // This is no proxy.
  server.on('connect', (_req, socket) => socket.end(rawResponse(405)));
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket) => {
    // On a connection that was answered before, a part of an answer may be out already.
    const isUnanswered = socket instanceof Socket && socket.bytesWritten === 0;
    if (isUnanswered && socket.writable) socket.write(rawResponse(PARSE_ERRORS[code] ?? 400));
    socket.destroy();
  });
  let serving = true;

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explained(error, options)));
    server.listen({ port, host, backlog: BACKLOG }, resolve);
  });
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;

  /** Still answers, but lets nobody stay: who keeps connections open must not meet a reset later. */
  function retire(): void {
    if (!serving) return;
    serving = false;
    server.prependListener('request', (_req, res) => res.setHeader('connection', 'close'));
  }

  return {
    url: `http://${name.includes(':') ? `[${name}]` : name}:${(server.address() as AddressInfo).port}`,
    /** False from the moment it was told to retire, or began to close. */
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

/** No port can be had: what to do about it, in one line. */
function explained(error: NodeJS.ErrnoException, { host, port }: ListenOptions): Error {
  const advice: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} is taken by another process: stop it, or set PORT to a free one.`,
    EACCES: `Port ${port} may not be opened: set PORT above 1023.`,
    EADDRNOTAVAIL: `HOST ${host} is no address of this machine.`,
  };
  const message = advice[error.code ?? ''];
  return message ? Object.assign(new Error(message), { code: 'CONFIG' }) : error;
}

/** More open sockets than this are somebody's mistake, or somebody's attack. */
const MOST_CONNECTIONS = 30_000;
const LEAST_CONNECTIONS = 16;
/** For files, the store and the server itself. The system refuses whatever comes once there are none left. */
const OWN_DESCRIPTORS = 64;
/** From here on connections that nothing was sent over are closed, for those who want something. */
const NEARLY_FULL = 0.9;
const CHECK_EVERY_MS = 250;
const LOG_EVERY_MS = 10_000;
const SILENT_MS = 1_000;

/**
 * Keeps connections below what the system allows, so that a webhook is still accepted when thousands are open, and
 * knows which of them are silent: browsers open connections ahead of need, which Node takes for busy.
 */
function limitConnections(server: Server, { callsAtOnce, onRefused }: ListenOptions) {
  const most = Math.min(MOST_CONNECTIONS, descriptors() - OWN_DESCRIPTORS - callsAtOnce);
  server.maxConnections = Math.max(LEAST_CONNECTIONS, most);
  let open: { readonly socket: Socket; readonly since: number }[] = [];
  let [loggedAt, refused] = [Number.NEGATIVE_INFINITY, 0];

  /** Those that have been silent for so long. */
  function closeSilent(ms: number): void {
    const until = performance.now() - ms;
    for (const { socket, since } of open)
      if (since <= until && socket.bytesRead === 0) socket.destroy();
  }

  // Now and then, and not with a listener each: thousands of subscribers would each keep one.
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
    /** Whether any client has yet to take what was written for it. */
    areWriting: () => open.some(({ socket }) => !socket.destroyed && socket.writableLength > 0),
    stop: () => clearInterval(checking),
  };
}

/** Of this process, sockets and files together. Not known everywhere. */
function descriptors(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
