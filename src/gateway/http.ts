import type { IncomingMessage, ServerResponse } from 'node:http';

import { CodedError } from '../errors.ts';
import { assignRequestId, requestIdOf } from '../observability/request-id.ts';
import { createPages } from '../pages/pages.ts';
import { schema } from '../schema/schema.ts';
import { isSame } from '../sealed-text.ts';
import { acceptedBy, commonHeaders } from './request.ts';
import type { GatewayParts } from './gateway.ts';
import type { createGatewayYoga } from './yoga.ts';

type Handler = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>;

/** All routes: GraphQL and the others. Paths are exact. */
export function createHttpHandler(
  parts: GatewayParts,
  { yoga, answerJson }: ReturnType<typeof createGatewayYoga>,
  webhooks: Handler,
) {
  const { config, services, metrics } = parts;
  const { graphiql, metricsToken } = config.http;
  const pages = graphiql ? createPages(schema, config) : undefined;

  const graphql: Handler = async (req, res) => {
    // RFC 9112, 3.2. Yoga also builds a URL with it, and would send the stack of the error.
    if (!URL.canParse(`http://${req.headers.host || 'localhost'}`))
      return reject(res, 400, 'The "Host" header must name a host.');
    // Called for its log line only: without CORS headers the browser itself rejects the response.
    parts.origins.allows(req);
    const acceptsJson = req.method === 'POST' && acceptedBy(req).jsonType !== undefined;
    const context = acceptsJson ? await answerJson(res) : { res };
    if (!context) return;
    setHeaders(res, commonHeaders(req));
    const isPage = /^(GET|HEAD)$/.test(req.method!) && req.headers.accept?.includes('text/html');
    if (pages && isPage) return pages.graphiql(req, res);
    const cors = parts.origins.corsHeaders(req.headers.origin);
    setHeaders(res, { 'cache-control': 'no-store', ...cors });
    await yoga(req, res, context);
  };

  const checkAll = () =>
    Promise.all([outcomeOf(services.partner.check()), outcomeOf(services.store.check())]);
  let checks: ReturnType<typeof checkAll> | undefined;

  async function readiness(res: ServerResponse): Promise<void> {
    // Answered immediately: a load balancer must not wait for a Partner API that hangs.
    if (!parts.isServing()) return json(res, 503, { ready: false, serving: false, checks: {} });
    // Anyone may ask, and a check writes to the store: requests at the same time share one.
    checks ??= checkAll().finally(() => (checks = undefined));
    const [partner, eventLog] = await checks;
    const audit = services.auditProblem() ?? 'ok';
    const ready = [partner, eventLog, audit].every((outcome) => outcome === 'ok');
    json(res, ready ? 200 : 503, { ready, serving: true, checks: { partner, eventLog, audit } });
  }

  async function metricsText(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (!mayReadMetrics(req, metricsToken)) {
      res.setHeader('www-authenticate', 'Bearer');
      return json(res, 401, { error: 'unauthorized' });
    }
    const text = await metrics.text();
    res.writeHead(200, { 'content-type': metrics.contentType }).end(text);
  }

  const routes = new Map<string, Readonly<Record<string, Handler>>>([
    ['/graphql', { POST: graphql }],
    ['/webhooks', { POST: webhooks }],
    ['/healthz', { GET: (_req, res) => json(res, 200, { ok: true }) }],
    ['/readyz', { GET: (_req, res) => readiness(res) }],
    ['/metrics', { GET: metricsText }],
    ...(pages?.routes ?? []),
  ]);

  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { url = '/', method = 'GET' } = req;
    const [path = ''] = url.split('?', 1);
    // Yoga gets every method but TRACE, which the Fetch API forbids.
    if (path === '/graphql' && method !== 'TRACE') return graphql(req, res);
    setHeaders(res, commonHeaders(req));
    if (!url.startsWith('/')) return reject(res, 400, 'The request must name a path.');
    // TRACE is rejected on every path.
    const methods = routes.get(path) ?? (method === 'TRACE' ? {} : undefined);
    if (!methods) return reject(res, 404, 'Nothing is here: GraphQL is at /graphql.', 'NOT_FOUND');
    const name = method === 'HEAD' ? 'GET' : method;
    if (Object.hasOwn(methods, name)) return methods[name]!(req, res);
    res.setHeader('allow', Object.keys(methods).join(', '));
    return reject(res, 405, 'Method not allowed.');
  };

  return (req: IncomingMessage, res: ServerResponse): void => {
    assignRequestId(req);
    handle(req, res).catch((error: unknown) => {
      parts.onUnexpected(error, requestIdOf(req));
      if (res.headersSent) res.destroy();
      else reject(res, 500, 'Unexpected error.', 'INTERNAL_SERVER_ERROR');
    });
  };
}

/** `ok`, or the message of one of our own errors, which says what to do. Other messages are not shown. */
const outcomeOf = (check: Promise<unknown>): Promise<string> =>
  check.then(
    () => 'ok',
    (error: unknown) => (error instanceof CodedError ? error.message : 'failed'),
  );

const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

function mayReadMetrics(req: IncomingMessage, token: string | undefined): boolean {
  if (token === undefined) return LOOPBACK.has(req.socket.remoteAddress ?? '');
  return isSame(Buffer.from(req.headers.authorization ?? ''), Buffer.from(`Bearer ${token}`));
}

const setHeaders = (res: ServerResponse, headers: Record<string, string>) =>
  res.setHeaders(new Map(Object.entries(headers)));

function json(res: ServerResponse, status: number, body: object): void {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  res.writeHead(status, { ...commonHeaders(res.req), ...headers }).end(JSON.stringify(body));
}

/** Errors are JSON on every route, so that clients can always parse them. */
function reject(res: ServerResponse, status: number, message: string, code = 'BAD_USER_INPUT') {
  const extensions = { code, requestId: requestIdOf(res.req) };
  json(res, status, { errors: [{ message, extensions }] });
}
