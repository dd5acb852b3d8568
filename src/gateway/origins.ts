import type { IncomingHttpHeaders } from 'node:http';

import type { CORSOptions } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';

import type { Config } from '../config.ts';
import type { Log } from '../observability/log.ts';
import { REQUEST_ID_HEADER } from './request.ts';

export type Origins = ReturnType<typeof createOrigins>;

const LOCALHOST = /^http:\/\/localhost(:\d{1,5})?$/;
/** Origins that are logged per minute: a client can make up any number. */
const MAX_REPORTED = 20;
const REPORTED = { max: MAX_REPORTED, ttl: 60_000, ttlAutopurge: true };

/** Which pages a browser may call from, over HTTP and WebSocket. Other programs send no origin. */
export function createOrigins({ allowedOrigins, allowsLocalhost }: Config['http'], log: Log) {
  const listed = new Set(allowedOrigins);
  const reported = new LRUCache<string, true>(REPORTED);

  const allowsCrossOrigin = (origin: string): boolean =>
    listed.has(origin) || (allowsLocalhost && LOCALHOST.test(origin));

  function report(from: URL | null, requestId?: string): void {
    const origin = from && from.origin !== 'null' ? from.origin : 'not a URL';
    if (reported.has(origin) || reported.size >= MAX_REPORTED) return;
    reported.set(origin, true);
    const message = 'a browser was refused: its page is not of an origin in ALLOWED_ORIGINS';
    log.warn(message, { origin, requestId });
  }

  return {
    /** True if the origin is allowed, of the same host, or absent. Others are logged. */
    allows({ origin, host }: IncomingHttpHeaders, requestId?: string): boolean {
      if (origin === undefined || allowsCrossOrigin(origin)) return true;
      const from = URL.parse(origin);
      if (from !== null && from.host !== '' && from.host === host?.toLowerCase()) return true;
      report(from, requestId);
      return false;
    },
    /** For Yoga. */
    cors({ headers }: Request): CORSOptions {
      const origin = headers.get('origin');
      if (origin === null || !allowsCrossOrigin(origin)) return false;
      return {
        // With more than one in the list, Yoga also says that the answer varies by origin.
        origin: [origin, origin],
        methods: ['POST'],
        // Without a list of request headers, Yoga allows those that the page asks for.
        exposedHeaders: [REQUEST_ID_HEADER],
        credentials: false,
        maxAge: MAX_AGE_SECONDS,
      };
    },
    /** For responses that don't go through Yoga. */
    corsHeaders(origin: string | undefined): Record<string, string> {
      if (origin === undefined || !allowsCrossOrigin(origin)) return {};
      return {
        'access-control-allow-origin': origin,
        'access-control-expose-headers': REQUEST_ID_HEADER,
        vary: 'Origin',
      };
    },
  };
}

/** How long a browser may cache the answer to its preflight. */
const MAX_AGE_SECONDS = 600;
