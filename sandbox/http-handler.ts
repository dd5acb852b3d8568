import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { envelopeOf, FORBIDDEN, MISSING_ROUTE, PartnerApiFailure } from './errors.ts';
import { withBody, type Body } from './http-body.ts';
import type { RequestLog } from './request-log.ts';
import type { Draws } from './rng.ts';
import { isRouteMeant, type Match } from './router.ts';
import { play, type Scripts } from './scripts.ts';
import type { Switches } from './switches.ts';
import type { Tokens } from './tokens.ts';

export const VERSION_SEGMENT = '/v2';

interface Parts {
  readonly apiKey: string;
  readonly find: (method: string, path: string) => Match | undefined;
  readonly tokens: Tokens;
  readonly switches: Switches;
  readonly scripts: Scripts;
  readonly log: RequestLog;
  readonly draws: Draws;
}

/** One request through both layers of the API: its gateway (route, key), then the application. */
export function createHandler(parts: Parts): RequestListener {
  const { switches, scripts, log, draws } = parts;

  function answer(match: Match | undefined, seen: Seen, body: Body, response: ServerResponse) {
    if (!match) return send(response, 403, MISSING_ROUTE);
    const { template } = match.route;
    const script = scripts.take(template);
    if (script) {
      if (script.takesEffect) settled(() => run(parts, match, seen, body));
      return later(script.delayMs ?? 0, () => play(script, response));
    }
    if (switches.hang.some((pattern) => isRouteMeant(pattern, template))) return;
    later(switches.latencyMs, () => {
      const { status, body: content } = settled(() => {
        if (switches.failureRate > 0 && draws.chance(switches.failureRate)) throw outage(draws);
        return run(parts, match, seen, body);
      }, seen.path);
      send(response, status, content);
    });
  }

  return (request, response) => {
    const seen = readLine(request);
    log.enter();
    response.once('close', log.leave);
    const match = seen.version ? parts.find(seen.method, seen.path) : undefined;
    withBody(request, (body) => {
      log.note({
        method: seen.method,
        path: seen.path,
        route: match?.route.template,
        query: Object.fromEntries(seen.query),
        headers: request.headers,
        body: body.kind === 'json' ? body.value : undefined,
        at: Date.now(),
      });
      answer(match, seen, body, response);
    });
  };
}

type Seen = ReturnType<typeof readLine>;

function readLine(request: IncomingMessage) {
  const url = request.url ?? '/';
  const cut = url.indexOf('?');
  const whole = cut < 0 ? url : url.slice(0, cut);
  const version = whole.startsWith(`${VERSION_SEGMENT}/`);
  return {
    method: request.method ?? 'GET',
    version,
    path: version ? whole.slice(VERSION_SEGMENT.length) : whole,
    query: new URLSearchParams(cut < 0 ? '' : url.slice(cut + 1)),
    headers: request.headers,
  };
}

interface Settled {
  readonly status: number;
  readonly body: unknown;
}

function run({ apiKey, tokens }: Parts, { route, id }: Match, seen: Seen, body: Body): Settled {
  const { headers, query } = seen;
  if (headers['x-api-key'] !== apiKey) return { status: 403, body: FORBIDDEN };
  if (!route.isOpen) tokens.check(tokenIn(headers['access-token']));
  return { status: 200, body: route.handle({ id, query, body: contentOf(body) }) };
}

const tokenIn = (header: string | string[] | undefined) =>
  Array.isArray(header) ? header.join() : header;

function contentOf(body: Body): unknown {
  if (body.kind === 'json') return body.value;
  if (body.kind === 'none') return undefined;
  if (body.kind === 'too large') {
    throw new PartnerApiFailure(413, 'PayloadTooLargeException', 'request entity too large');
  }
  throw new PartnerApiFailure(400, 'SyntaxError', 'Request body is not valid JSON');
}

function settled(work: () => Settled, path = ''): Settled {
  try {
    return work();
  } catch (error) {
    const failure =
      error instanceof PartnerApiFailure
        ? error
        : new PartnerApiFailure(500, 'InternalServerErrorException', 'Internal server error');
    return { status: failure.statusCode, body: envelopeOf(failure, path) };
  }
}

const outage = (draws: Draws) =>
  new PartnerApiFailure(draws.pick([500, 502, 503, 504]), 'OutageException', 'Service unavailable');

function later(delayMs: number, work: () => void): void {
  if (delayMs > 0) setTimeout(work, delayMs).unref();
  else work();
}

export function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
