import { isUtf8 } from 'node:buffer';
import { isNestedTooDeep, isObject, type JsonObject } from '../../json.ts';
import {
  NoteLocked,
  OPERATION_ENDED,
  PartnerConflict,
  PartnerError,
  PartnerRejected,
  type PartnerCode,
} from '../errors.ts';
import type { Verdict } from './breaker.ts';
import { retryAfterMsOf, type Failure } from './retry.ts';
import type { Attempt, Outcome } from './transport.ts';

/**
 * Undefined if the body is not JSON, or is the HTML page of a proxy or a firewall. For a write, a 2xx with another kind
 * of body means that it was accepted, and the result is null, unless the body begins like HTML or JSON, or is an error.
 * Its type says little: web frameworks call any text HTML, even `true` or an empty body.
 */
export function jsonOf({ body, contentType }: Attempt, isWrite = false): unknown {
  const isHtml = !contentType.startsWith('application/json') && /html/i.test(contentType);
  try {
    const json: unknown = !isHtml && isUtf8(body) ? JSON.parse(body.toString('utf8')) : undefined;
    const isError = isWrite && shapeOf(json).layer === 'application';
    if (json !== undefined && !isError && !isNestedTooDeep(json)) return json;
  } catch {}
  return isWrite && !/^\s*[<[{]/.test(body.toString('utf8', 0, 64)) ? null : undefined;
}

/** Any answer but a 5xx shows that the API is up: a 4xx is about the request. */
export function verdictOf({ outcome, status }: Attempt): Verdict {
  if (outcome === 'answered') return status >= 500 ? 'failing' : 'healthy';
  return outcome === 'aborted' || outcome === 'garbled' ? 'unclear' : 'failing';
}

const FAILURES: Readonly<Record<Outcome, readonly [Failure['kind'], PartnerCode, string]>> = {
  answered: ['final', 'UPSTREAM_BAD_RESPONSE', 'wanted JSON, but got something else'],
  unsent: ['unsent', 'UPSTREAM_UNAVAILABLE', 'no connection could be made'],
  timeout: ['unanswered', 'UPSTREAM_UNAVAILABLE', 'no answer came (timeout)'],
  reset: ['unanswered', 'UPSTREAM_UNAVAILABLE', 'no answer came (reset)'],
  cut: ['unanswered', 'UPSTREAM_BAD_RESPONSE', 'the answer broke off'],
  garbled: ['final', 'UPSTREAM_BAD_RESPONSE', 'the answer is not HTTP, or too large'],
  aborted: ['final', 'TIMEOUT', OPERATION_ENDED],
};

/** The body's shape distinguishes the kinds of 403, and a proxy's page from an answer of the API. */
export function failureOf(route: string, attempt: Attempt, wallNow: number): Failure {
  const { isSuccess, outcome = 'aborted', receivedBytes, status, token, unsentCode } = attempt;
  const failed = (kind: Failure['kind'], code: PartnerCode, what: string, retryAfter?: number) => ({
    kind,
    error: new PartnerError(code, route, what, retryAfter),
  });
  if (outcome !== 'answered' || isSuccess) {
    const [kind, code, what] = FAILURES[outcome];
    const mayHaveTakenEffect = outcome !== 'unsent' && outcome !== 'aborted';
    const reason = unsentCode ? `${what} (${unsentCode})` : what;
    return { ...failed(kind, code, reason), mayHaveTakenEffect };
  }
  const { layer, messages } = shapeOf(jsonOf(attempt));
  const answered = `answered with status ${status}`;
  if (status >= 500)
    return { ...failed('unanswered', 'UPSTREAM_UNAVAILABLE', answered), mayHaveTakenEffect: true };
  if (status === 401) {
    const what = `${token ? 'the access token' : 'the client id or secret'} was refused`;
    const failure = failed('unauthorized', 'UPSTREAM_CREDENTIALS', what);
    return { ...failure, mayHaveTakenEffect: layer !== 'application' };
  }
  if (status === 429) {
    const retryAfterMs = retryAfterMsOf(attempt.retryAfter, wallNow);
    const seconds = Math.ceil((retryAfterMs ?? 1_000) / 1_000);
    const what = 'the Partner API asks for fewer calls';
    return { ...failed('throttled', 'UPSTREAM_RATE_LIMITED', what, seconds), retryAfterMs };
  }
  if (status === 400 && layer !== 'unknown')
    return { kind: 'final', error: new PartnerRejected(route, messages) };
  if (status === 403 && layer === 'gateway')
    return messages[0] === 'Missing Authentication Token'
      ? failed('final', 'UPSTREAM_ROUTE', 'the Partner API has no such route')
      : failed('key-refused', 'UPSTREAM_CREDENTIALS', 'the API key was refused');
  if (status === 403 && layer === 'application') {
    if (messages.some((message) => /progress note is locked/i.test(message))) {
      const locked = new NoteLocked('BAD_USER_INPUT', route, 'the progress note is locked');
      return { kind: 'final', error: locked };
    }
    const what = 'the Partner API does not accept the access token';
    return failed('token-suspect', 'UPSTREAM_CREDENTIALS', what);
  }
  // A page of a proxy must not make a record look deleted.
  const isFromProxy = layer === 'unknown' && receivedBytes > 0;
  if (status === 404 && !isFromProxy)
    return failed('final', 'NOT_FOUND', 'there is no such record');
  if (status === 409 && !isFromProxy) {
    const what = 'the request conflicts with the present state';
    return { kind: 'final', error: new PartnerConflict('BAD_USER_INPUT', route, what) };
  }
  // A redirect may follow a successful write, and a proxy that timed out (408, 499) may have forwarded the request.
  const mayHaveTakenEffect = status < 400 || status === 408 || status === 499;
  const what = `${answered} in an unknown shape`;
  return { ...failed('final', 'UPSTREAM_BAD_RESPONSE', what), mayHaveTakenEffect };
}

/**
 * The two layers that answer with an error: the API's gateway (a bare `{message}`) and the application (`{error: {…}}`,
 * whose `message` is a string or an object with a `message` array). Its `type` is an internal class name: ignored.
 */
function shapeOf(body: unknown) {
  const { error, message }: JsonObject = isObject(body) ? body : {};
  if (isObject(error))
    return { layer: 'application', messages: messagesOf(error['message']) } as const;
  if (typeof message === 'string') return { layer: 'gateway', messages: [message] } as const;
  return { layer: 'unknown', messages: [] } as const;
}

function messagesOf(message: unknown): readonly string[] {
  if (typeof message === 'string') return [message];
  if (Array.isArray(message)) return message.filter((text) => typeof text === 'string');
  return isObject(message) ? messagesOf(message['message']) : [];
}
