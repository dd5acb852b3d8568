import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Switches } from '../control/switches.ts';
import type { Random } from '../data/random.ts';
import { envelopeOf, PartnerApiFailure } from './errors.ts';
import { readBody, sendJson, type Body } from './messages.ts';
import type { RequestLog } from './request-log.ts';
import { matchesRoute, type Match } from './router.ts';
import { sendScripted, type ScriptedAnswers } from './scripted-answers.ts';
import type { Tokens } from './tokens.ts';

export const VERSION_SEGMENT = '/v2';
/** The only route that needs no access token. */
const AUTHENTICATE = 'POST /partners/authenticate';

interface Parts {
  readonly apiKey: string;
  readonly findRoute: (method: string, path: string) => Match | undefined;
  readonly tokens: Tokens;
  readonly switches: Switches;
  readonly scriptedAnswers: ScriptedAnswers;
  readonly log: RequestLog;
  readonly random: Random;
}

/** Handles a request as the API does: first its gateway (route, API key), then the application. */
export function createHandler(parts: Parts): RequestListener {
  const { switches, scriptedAnswers, log, random } = parts;

  function respond(match: Match | undefined, target: Target, body: Body, response: ServerResponse) {
    if (!match) return sendJson(response, 403, { message: 'Missing Authentication Token' });
    const { template } = match;
    const scripted = scriptedAnswers.take(template);
    if (scripted) {
      if (scripted.takesEffect) resultOf(() => execute(parts, match, target, body), target.path);
      const send = () => sendScripted(scripted, response);
      return void (scripted.heldUntil ? scripted.heldUntil.then(send) : send());
    }
    if (switches.hang.some((pattern) => matchesRoute(pattern, template))) return;
    after(switches.latencyMs, () => {
      const result = resultOf(() => {
        if (switches.failureRate > 0 && random.chance(switches.failureRate)) {
          const status = random.pick([500, 502, 503, 504]);
          throw new PartnerApiFailure(status, 'OutageException', 'Service unavailable');
        }
        return execute(parts, match, target, body);
      }, target.path);
      sendJson(response, result.status, result.body);
    });
  }

  return (request, response) => {
    const target = targetOf(request);
    log.trackOpen(response);
    const match = target.hasVersion ? parts.findRoute(target.method, target.path) : undefined;
    readBody(request, (body) => {
      log.add({
        method: target.method,
        path: target.path,
        route: match?.template,
        query: Object.fromEntries(target.query),
        headers: request.headers,
        body: body.value,
        at: Date.now(),
      });
      respond(match, target, body, response);
    });
  };
}

type Target = ReturnType<typeof targetOf>;

function targetOf(request: IncomingMessage) {
  const url = request.url ?? '/';
  const queryStart = url.indexOf('?');
  const path = queryStart < 0 ? url : url.slice(0, queryStart);
  const hasVersion = path.startsWith(`${VERSION_SEGMENT}/`);
  return {
    method: request.method ?? 'GET',
    hasVersion,
    path: hasVersion ? path.slice(VERSION_SEGMENT.length) : path,
    query: new URLSearchParams(queryStart < 0 ? '' : url.slice(queryStart + 1)),
    headers: request.headers,
  };
}

function execute(parts: Parts, match: Match, { headers, query }: Target, body: Body) {
  const { template, handle, id } = match;
  if (headers['x-api-key'] !== parts.apiKey) return { status: 403, body: { message: 'Forbidden' } };
  if (template !== AUTHENTICATE) parts.tokens.check(headers['access-token']?.toString());
  return { status: 200, body: handle({ id, query, body: jsonOf(body) }) };
}

function jsonOf(body: Body): unknown {
  if (body.kind === 'malformed')
    throw new PartnerApiFailure(400, 'SyntaxError', 'Request body is not valid JSON');
  if (body.kind === 'too large')
    throw new PartnerApiFailure(413, 'PayloadTooLargeException', 'request entity too large');
  return body.value;
}

function resultOf(work: () => { status: number; body: unknown }, path: string) {
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

function after(delayMs: number, work: () => void): void {
  if (delayMs > 0) setTimeout(work, delayMs).unref();
  else work();
}
