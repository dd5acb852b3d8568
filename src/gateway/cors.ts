import type { IncomingMessage, ServerResponse } from 'node:http';

/** How long a browser may remember the answer to its preflight. */
const MAX_AGE_SECONDS = '600';

/** Browsers of other origins get in only if they are listed. A browser of this origin sends no preflight. */
export function createCors(allowedOrigins: readonly string[]) {
  const allowed = new Set(allowedOrigins);

  /** For the answer itself. */
  const allow = (req: IncomingMessage, res: ServerResponse): void => {
    const { origin } = req.headers;
    if (allowed.size === 0) return;
    res.setHeader('vary', 'Origin');
    if (origin !== undefined && allowed.has(origin)) {
      res.setHeader('access-control-allow-origin', origin);
    }
  };

  const preflight = (req: IncomingMessage, res: ServerResponse): void => {
    const { origin } = req.headers;
    if (origin === undefined || !allowed.has(origin)) {
      res.writeHead(204).end();
      return;
    }
    res.writeHead(204, {
      vary: 'Origin',
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization, content-type',
      'access-control-max-age': MAX_AGE_SECONDS,
    });
    res.end();
  };

  return { allow, preflight };
}
