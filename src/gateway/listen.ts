import { type IncomingMessage, STATUS_CODES, ServerResponse, createServer } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { type ConnectionLimitParts, limitConnections } from './connection-limit.ts';

interface Handler {
  readonly handle: (req: IncomingMessage, res: ServerResponse) => void;
  readonly upgrade: (req: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Sends away those who would stay for ever. */
  readonly endSubscriptions: (graceMs: number) => Promise<void>;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

interface Patience {
  readonly headersMs: number;
  readonly requestMs: number;
}

export interface Listening extends AsyncDisposable {
  readonly url: string;
  /** False from the moment it was told to retire, or began to close. */
  isServing(): boolean;
  /** Still answers, but lets nobody stay: who keeps connections open must not meet a reset later. */
  retire(): void;
}

/** After a restart everyone comes back in the same second. The system may allow fewer. */
const BACKLOG = 4_096;
/** How long clients may take to agree that their subscriptions are over. */
const GOODBYE_MS = 3_000;
/** How long requests under way may take to finish once the process is told to stop. */
const DRAIN_MS = 10_000;
/** A connection whose last answer is out is closed so soon after it. */
const SWEEP_MS = 50;

/** No port can be had: what to do about it, in one line. */
export class PortTaken extends Error {
  override readonly name = 'PortTaken';
  readonly code = 'CONFIG';
}

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
const rawResponse = (status: number): string =>
  `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n`;

export async function listen(
  app: Handler,
  at: Address,
  patience: Patience,
  connections: ConnectionLimitParts,
): Promise<Listening> {
  const server = createServer({
    ServerResponse: NoSniffResponse,
    headersTimeout: patience.headersMs,
    requestTimeout: patience.requestMs,
    connectionsCheckingInterval: Math.min(patience.headersMs, 1_000),
    // Some HTTP clients offer h2c with every request: that is declined by answering it.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
  });
  server.on('request', app.handle);
  server.on('upgrade', app.upgrade);
  const open = limitConnections(server, connections);
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
    server.once('error', (error) => reject(explained(error, at)));
    server.listen({ port: at.port, host: at.host, backlog: BACKLOG }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const host = at.host === '0.0.0.0' || at.host === '::' ? 'localhost' : at.host;

  function retire(): void {
    if (!serving) return;
    serving = false;
    server.prependListener('request', (_req, res) => res.setHeader('connection', 'close'));
  }

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    isServing: () => serving,
    retire,
    async [Symbol.asyncDispose]() {
      retire();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      open.stop();
      open.closeSilent(0);
      const sweeping = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
      const impatience = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      await app.endSubscriptions(GOODBYE_MS);
      await closed;
      clearInterval(sweeping);
      clearTimeout(impatience);
    },
  };
}

function explained(error: Error, { host, port }: Address): Error {
  if (!('code' in error)) return error;
  if (error.code === 'EADDRINUSE') {
    return new PortTaken(
      `Port ${port} is taken by another process: stop it, or set PORT to a free one.`,
    );
  }
  if (error.code === 'EACCES')
    return new PortTaken(`Port ${port} may not be opened: set PORT above 1023.`);
  if (error.code === 'EADDRNOTAVAIL')
    return new PortTaken(`HOST ${host} is no address of this machine.`);
  return error;
}
