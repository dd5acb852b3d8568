import type { IncomingMessage, ServerResponse } from 'node:http';
import { PartnerApiFailure } from './errors.ts';
import { withBody, type Body } from './http-body.ts';
import { send } from './http-handler.ts';
import type { Sandbox } from './sandbox-api.ts';

const PREFIX = '/_sandbox/';

type Input = Readonly<Record<string, unknown>>;
type Control = (sandbox: Sandbox, input: Input) => unknown;

/** `POST /_sandbox/{name}` with a JSON object. Beside the API, not part of it. */
const CONTROLS: Readonly<Record<string, Control>> = {
  switches: (sandbox, input) => {
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
    sandbox.answerNext(text(route, 'route'), answer),
  'start-session': (sandbox, { clientId, ...plan }) =>
    sandbox.startSession(text(clientId, 'clientId'), plan),
  'complete-assessments': (sandbox, { clientId }) =>
    sandbox.completeAssessments(text(clientId, 'clientId')),
  finalize: (sandbox, { noteId }) => sandbox.finalize(text(noteId, 'noteId')),
};

/** Answers what is meant for the sandbox itself; false for everything else. */
export function createControls(sandbox: () => Sandbox) {
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    if (!request.url?.startsWith(PREFIX)) return false;
    const name = request.url.slice(PREFIX.length);
    if (request.method === 'GET' && name === 'switches') {
      send(response, 200, sandbox().switches);
      return true;
    }
    // A browser sends JSON to another origin only after asking, and is never told yes.
    const isJson = request.headers['content-type']?.startsWith('application/json') ?? false;
    withBody(request, (body) => {
      if (request.method !== 'POST' || !Object.hasOwn(CONTROLS, name)) {
        send(response, 404, {
          message: `wanted POST ${PREFIX}{${Object.keys(CONTROLS).join(',')}}`,
        });
      } else if (!isJson) {
        send(response, 415, { message: 'wanted application/json' });
      } else {
        perform(CONTROLS[name], sandbox(), body, response);
      }
    });
    return true;
  };
}

function perform(control: Control | undefined, sandbox: Sandbox, body: Body, to: ServerResponse) {
  try {
    send(to, 200, control?.(sandbox, inputOf(body)) ?? {});
  } catch (error) {
    const status = error instanceof PartnerApiFailure ? error.statusCode : 400;
    send(to, status, { message: error instanceof Error ? error.message : 'failed' });
  }
}

function inputOf(body: Body): Input {
  if (body.kind === 'none') return {};
  const value = body.kind === 'json' ? body.value : undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('wanted a JSON object, but got something else');
  }
  return { ...value };
}

function text(value: unknown, name: string): string {
  if (typeof value !== 'string')
    throw new Error(`"${name}" must be a string, but got ${typeof value}`);
  return value;
}
