import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { createPages } from '../pages/pages.ts';
import { corsHeadersOf } from './origins.ts';
import type { AnswerCache } from './plugins/use-answer-cache.ts';
import { assignRequestId } from './request.ts';
import type { GatewayParts, GatewayYoga } from './yoga.ts';

type Handler = (
  req: IncomingMessage,
  res: ServerResponse,
  requestId: string,
) => void | Promise<void>;
type Check = () => Promise<void>;

export interface Routes {
  readonly yoga: GatewayYoga;
  readonly answers: AnswerCache;
  readonly webhooks: Handler;
  readonly checkAudit: Check;
}

/** Every route: Yoga's endpoint, and what is beside it. Paths are exact. */
export function createHttpHandler(parts: GatewayParts, routes: Routes) {
  const { config, schema, services, metrics } = parts;
  const { graphiql, metricsToken } = config.http;
  const checks: Readonly<Record<string, Check>> = {
    partner: () => services.partner.check(),
    eventLog: () => services.store.check(),
    audit: routes.checkAudit,
  };
  const pages = graphiql
    ? createPages({
        schema,
        needsToken: config.auth.kind !== 'open',
        isSandbox: config.partner.kind === 'sandbox',
      })
    : undefined;

  const graphql: Handler = (req, res, requestId) => {
    // Only reported: without CORS headers the browser itself keeps the answer from the page.
    parts.origins.admits(req.headers.origin, req.headers.host);
    const isPage = req.method === 'GET' && req.headers.accept?.includes('text/html');
    if (pages && isPage) return pages.graphiql(req, res);
    res.setHeader('cache-control', 'no-store');
    if (parts.isShortOfMemory()) return shortOfMemory(parts, req, res, requestId);
    return routes.answers.serve(req, res, requestId).then((isServed) => {
      if (!isServed) return routes.yoga(req, res);
    });
  };

  async function readiness(res: ServerResponse): Promise<void> {
    // At once: whoever is to send no more must not wait for a Partner API that hangs.
    if (!parts.isServing()) return json(res, 503, { ready: false, serving: false, checks: {} });
    const names = Object.keys(checks);
    const reasons = await Promise.all(names.map((name) => reasonOf(checks[name]!)));
    const serving = parts.isServing();
    const ready = serving && reasons.every((reason) => reason === 'ok');
    const told = Object.fromEntries(names.map((name, i) => [name, reasons[i]]));
    json(res, ready ? 200 : 503, { ready, serving, checks: told });
  }

  async function metricsText(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (!mayReadMetrics(req, metricsToken)) return json(res, 401, { error: 'unauthorized' });
    const text = await metrics.text();
    res.writeHead(200, { 'content-type': metrics.contentType }).end(text);
  }

  const others = new Map<string, Readonly<Record<string, Handler>>>([
    ['/webhooks', { POST: routes.webhooks }],
    ['/healthz', { GET: (_req, res) => json(res, 200, { ok: true }) }],
    ['/readyz', { GET: (_req, res) => readiness(res) }],
    ['/metrics', { GET: metricsText }],
    ...(pages?.routes ?? []),
  ]);

  function handlerOf({ url = '/', method = 'GET' }: IncomingMessage): Handler {
    if (!url.startsWith('/')) return rejected(400, 'The request must name a path.');
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    if (path === '/graphql' && method !== 'TRACE') return graphql;
    const methods = others.get(path);
    if (!methods) return rejected(404, 'Nothing is here: GraphQL is at /graphql.');
    if (Object.hasOwn(methods, method)) return methods[method]!;
    return rejected(405, 'Method not allowed.', { allow: Object.keys(methods).join(', ') });
  }

  return (req: IncomingMessage, res: ServerResponse): void => {
    const requestId = assignRequestId(req, res);
    const failed = (error: unknown): void => {
      parts.onUnexpected(error, requestId);
      if (res.headersSent) res.destroy();
      else errors(res, requestId, 500, 'Unexpected error.', 'INTERNAL_SERVER_ERROR');
    };
    try {
      handlerOf(req)(req, res, requestId)?.catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}

/** Our own errors say in words what to do; of any other there is nothing to tell but that it failed. */
async function reasonOf(check: Check): Promise<string> {
  try {
    await check();
    return 'ok';
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.message : 'failed';
  }
}

const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

function mayReadMetrics(req: IncomingMessage, token: string | undefined): boolean {
  if (token === undefined) return LOOPBACK.has(req.socket.remoteAddress ?? '');
  const given = Buffer.from(req.headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

function json(res: ServerResponse, status: number, body: object): void {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  res.writeHead(status, headers).end(JSON.stringify(body));
}

const rejected =
  (status: number, message: string, headers: Record<string, string> = {}): Handler =>
  (_req, res, requestId) =>
    errors(
      res,
      requestId,
      status,
      message,
      status === 404 ? 'NOT_FOUND' : 'BAD_USER_INPUT',
      headers,
    );

/** JSON like everything else here, so that a client's parser never meets a surprise. */
function errors(
  res: ServerResponse,
  requestId: string,
  status: number,
  message: string,
  code: string,
  headers: Record<string, string> = {},
): void {
  res.writeHead(status, { ...headers, 'content-type': 'application/json; charset=utf-8' });
  res.end(JSON.stringify({ errors: [{ message, extensions: { code, requestId } }] }));
}

function shortOfMemory(
  { origins, observer }: GatewayParts,
  req: IncomingMessage,
  res: ServerResponse,
  requestId: string,
): void {
  req.resume();
  const message = 'This gateway is short of memory. Try again in a moment.';
  const headers = { ...corsHeadersOf(origins, req.headers.origin), 'retry-after': '5' };
  observer.rejected('UPSTREAM_UNAVAILABLE', requestId, 503);
  errors(res, requestId, 503, message, 'UPSTREAM_UNAVAILABLE', headers);
}
