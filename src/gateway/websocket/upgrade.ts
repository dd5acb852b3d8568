import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

import type { Origins } from '../origins.ts';

/** As many as Node keeps; past them it drops the rest, and what is left can't be trusted. */
const MOST_HEADERS = 2_000;

/** The status with which an upgrade is rejected, or undefined. */
export function upgradeProblem(req: IncomingMessage, origins: Origins): number | undefined {
  const { url = '/', rawHeaders, headers } = req;
  if (rawHeaders.length >= 2 * MOST_HEADERS) return 431;
  const [path, ...query] = url.split('?');
  if (path !== '/graphql') return 404;
  // Tokens in URLs end up in logs: there is nothing that may be said in one.
  if (query.length > 0) return 400;
  // Browsers always say where the page came from, and let any page open a socket to anywhere.
  return origins.admits(headers.origin, headers.host) ? undefined : 403;
}

export function rejectUpgrade(socket: Duplex, status: number): void {
  socket.on('error', () => undefined);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    () => socket.destroy(),
  );
}
