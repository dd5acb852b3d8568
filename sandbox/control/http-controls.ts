import type { IncomingMessage, ServerResponse } from 'node:http';
import { PartnerApiFailure } from '../http/errors.ts';
import { readBody, sendJson, type Body } from '../http/messages.ts';
import type { Sandbox } from '../sandbox.ts';

const PREFIX = '/_sandbox/';

type Input = Readonly<Record<string, unknown>>;

/** `POST /_sandbox/{name}` with a JSON object. Not part of the API. */
const CONTROLS: Readonly<Record<string, (sandbox: Sandbox, input: Input) => unknown>> = {
  switches(sandbox, input) {
    sandbox.set(input);
    return sandbox.switches;
  },
  'expire-tokens': (sandbox) => sandbox.expireTokens(),
  'revoke-tokens': (sandbox) => sandbox.revokeTokens(),
  settle: (sandbox) => sandbox.settle(),
  'deliver-to': (sandbox, { url }) =>
    sandbox.deliverTo(url === null ? undefined : text(url, 'url')),
  burst: (sandbox, { count }) => sandbox.burst(typeof count === 'number' ? count : 100),
  'answer-next': (sandbox, { route, ...answer }) =>
    sandbox.answerNext(text(route, 'route'), { ...answer, heldUntil: undefined }),
  'start-session': (sandbox, { clientId, ...plan }) =>
    sandbox.startSession(text(clientId, 'clientId'), plan),
  'complete-assessments': (sandbox, { clientId }) =>
    sandbox.completeAssessments(text(clientId, 'clientId')),
  finalize: (sandbox, { noteId }) => sandbox.finalize(text(noteId, 'noteId')),
};

/** Handles requests to the sandbox itself; returns false for all others. */
export function createHttpControls(sandbox: () => Sandbox) {
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    if (!request.url?.startsWith(PREFIX)) return false;
    const name = request.url.slice(PREFIX.length);
    readBody(request, (body) => {
      const { status, value } = resultOf(request, name, body, sandbox());
      sendJson(response, status, value);
    });
    return true;
  };
}

function resultOf(
  { method, headers }: IncomingMessage,
  name: string,
  body: Body,
  sandbox: Sandbox,
) {
  if (method === 'GET' && name === 'switches') return { status: 200, value: sandbox.switches };
  if (method !== 'POST' || !Object.hasOwn(CONTROLS, name)) {
    return failure(404, `Send POST ${PREFIX}{${Object.keys(CONTROLS).join(',')}}.`);
  }
  // JSON only: a browser sends it to another origin only after a preflight, which is always rejected here.
  if (!headers['content-type']?.startsWith('application/json')) {
    return failure(415, 'The content type must be application/json.');
  }
  try {
    return { status: 200, value: CONTROLS[name]?.(sandbox, inputOf(body)) ?? {} };
  } catch (error) {
    const status = error instanceof PartnerApiFailure ? error.statusCode : 400;
    return failure(status, error instanceof Error ? error.message : 'failed');
  }
}

const failure = (status: number, message: string) => ({ status, value: { message } });

function inputOf({ kind, value }: Body): Input {
  if (kind === 'none') return {};
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new Error('The body must be a JSON object.');
}

function text(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw new Error(`"${name}" must be a string, but got ${typeof value}`);
}
