import type { IncomingMessage } from 'node:http';

import type { CORSOptions } from 'graphql-yoga';

import type { Config } from '../config.ts';
import type { Log } from '../observability/log.ts';
import { createLimitedLog } from '../observability/observers.ts';
import { REQUEST_ID_HEADER, requestIdOf } from '../observability/request-id.ts';

const LOCALHOST = /^http:\/\/localhost(:\d{1,5})?$/;
const REFUSED = 'a browser was refused: its page is not of an origin in ALLOWED_ORIGINS';

/** Which pages a browser may call from, over HTTP and WebSocket. Other programs send no origin. */
export function createOrigins({ allowedOrigins, allowsLocalhost }: Config['http'], log: Log) {
  // At most 20 origins a minute: a client can make up any number.
  const report = createLimitedLog(log, 60_000, 20);

  const allowsCrossOrigin = (origin: string): boolean =>
    allowedOrigins.includes(origin) || (allowsLocalhost && LOCALHOST.test(origin));

  return {
    /** True if the origin is allowed, of the same host, or absent. Others are logged. */
    allows(req: IncomingMessage): boolean {
      const { origin, host } = req.headers;
      if (origin === undefined || allowsCrossOrigin(origin)) return true;
      const from = URL.parse(origin);
      if (host && from?.host === host.toLowerCase()) return true;
      report('warn', REFUSED, { origin: from?.origin ?? 'not a URL', requestId: requestIdOf(req) });
      return false;
    },
    /** For Yoga, which answers preflights. */
    cors({ headers, method }: Request): CORSOptions {
      const origin = headers.get('origin');
      if (method !== 'OPTIONS' || origin === null || !allowsCrossOrigin(origin)) return false;
      return {
        // With more than one in the list, Yoga also says that the answer varies by origin.
        origin: [origin, origin],
        methods: ['POST'],
        // Without a list of request headers, Yoga allows those that the page asks for.
        credentials: false,
        // How long a browser may cache the answer to its preflight, in seconds.
        maxAge: 600,
      };
    },
    /** For all responses, through Yoga or not. */
    corsHeaders(origin: string | undefined): Record<string, string> {
      if (origin === undefined || !allowsCrossOrigin(origin)) return {};
      return {
        'access-control-allow-origin': origin,
        'access-control-expose-headers': `${REQUEST_ID_HEADER}, retry-after`,
        vary: 'Origin',
      };
    },
  };
}
