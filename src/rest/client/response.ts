import { isUtf8 } from 'node:buffer';
import { isNestedTooDeep, isObject, type JsonObject } from '../../json.ts';
import {
  NoteLocked,
  OperationAborted,
  PartnerConflict,
  PartnerContractBroken,
  PartnerCredentialsRefused,
  PartnerNotFound,
  PartnerRateLimited,
  PartnerRejected,
  PartnerRouteMissing,
  PartnerUnavailable,
  type PartnerError,
} from '../errors.ts';
import type { Verdict } from './breaker.ts';
import { retryAfterMsOf, type Failure } from './retry.ts';
import type { Attempt, Outcome } from './transport.ts';

/** Undefined if the body is not JSON. */
export function jsonOf({ body, contentType }: Attempt): unknown {
  if (isHtml(contentType) || !isUtf8(body)) return undefined;
  try {
    const json: unknown = JSON.parse(body.toString('utf8'));
    return isNestedTooDeep(json) ? undefined : json;
  } catch {
    return undefined;
  }
}

/** Proxies and firewalls answer with an HTML page. */
const isHtml = (contentType: string): boolean =>
  !contentType.startsWith('application/json') && /html/i.test(contentType);

/** A 2xx accepts a write, unless the body is a page of a proxy, or JSON that is incomplete. */
export function isAcceptance({ body, contentType }: Attempt): boolean {
  return !isHtml(contentType) && !/^\s*[<[{]/.test(body.toString('utf8', 0, 64));
}

/** Any answer but a 5xx shows that the API is up: a 4xx is about the request. */
export function verdictOf({ outcome, status }: Attempt): Verdict {
  if (outcome === 'answered') return status >= 500 ? 'failing' : 'healthy';
  return outcome === 'aborted' || outcome === 'garbled' ? 'unclear' : 'failing';
}

type ErrorClass = new (route: string, what: string) => PartnerError;

const MEANINGS: Readonly<Record<Outcome, readonly [Failure['kind'], ErrorClass, string]>> = {
  answered: ['final', PartnerContractBroken, 'wanted JSON, but got something else'],
  unsent: ['unsent', PartnerUnavailable, 'no connection could be made'],
  timeout: ['unanswered', PartnerUnavailable, 'no answer came (timeout)'],
  reset: ['unanswered', PartnerUnavailable, 'no answer came (reset)'],
  cut: ['unanswered', PartnerContractBroken, 'the answer broke off'],
  garbled: ['final', PartnerContractBroken, 'the answer is not HTTP, or too large'],
  aborted: ['final', OperationAborted, ''],
};

export function failureOf(route: string, attempt: Attempt, wallNow: number): Failure {
  const { isSuccess, outcome = 'aborted', unsentCode } = attempt;
  if (outcome === 'answered' && !isSuccess) return statusFailureOf(route, attempt, wallNow);
  const [kind, ErrorClass, what] = MEANINGS[outcome];
  const mayHaveTakenEffect = outcome !== 'unsent' && outcome !== 'aborted';
  const error = new ErrorClass(route, unsentCode ? `${what} (${unsentCode})` : what);
  return { kind, error, mayHaveTakenEffect };
}

/** Another attempt would not help. */
const final = (error: PartnerError, kind: Failure['kind'] = 'final'): Failure => ({ kind, error });

/** The body's shape distinguishes the kinds of 403, and a proxy's page from an answer of the API. */
function statusFailureOf(route: string, attempt: Attempt, wallNow: number): Failure {
  const { receivedBytes, retryAfter, status } = attempt;
  const { layer, messages } = shapeOf(jsonOf(attempt));
  if (status >= 500) {
    const error = new PartnerUnavailable(route, `answered with status ${status}`);
    return { kind: 'unanswered', error, mayHaveTakenEffect: true };
  }
  if (status === 401) {
    const what = attempt.token ? 'the access token' : 'the client id or secret';
    const error = new PartnerCredentialsRefused(route, `${what} was refused`);
    return { kind: 'unauthorized', error, mayHaveTakenEffect: layer !== 'application' };
  }
  if (status === 429) {
    const retryAfterMs = retryAfterMsOf(retryAfter, wallNow);
    const seconds = Math.ceil((retryAfterMs ?? 1000) / 1000);
    const error = new PartnerRateLimited(route, 'the Partner API asks for fewer calls', seconds);
    return { kind: 'throttled', error, retryAfterMs };
  }
  if (status === 400 && layer !== 'unknown') return final(new PartnerRejected(route, messages));
  if (status === 403 && layer !== 'unknown') return forbiddenOf(route, layer, messages);
  // A page of a proxy must not make a record look deleted.
  const isFromProxy = layer === 'unknown' && receivedBytes > 0;
  if (status === 404 && !isFromProxy)
    return final(new PartnerNotFound(route, 'there is no such record'));
  if (status === 409 && !isFromProxy)
    return final(new PartnerConflict(route, 'the request conflicts with the present state'));
  const what = `answered with status ${status} in an unknown shape`;
  // A redirect may follow a write that was made, and a proxy that gave up waiting has passed it on.
  const mayHaveTakenEffect = status < 400 || status === 408 || status === 499;
  return { kind: 'final', error: new PartnerContractBroken(route, what), mayHaveTakenEffect };
}

function forbiddenOf(route: string, layer: 'gateway' | 'application', messages: readonly string[]) {
  const refused = (what: string) => new PartnerCredentialsRefused(route, what);
  if (layer === 'gateway') {
    return messages[0] === 'Missing Authentication Token'
      ? final(new PartnerRouteMissing(route, 'the Partner API has no such route'))
      : final(refused('the API key was refused'), 'key-refused');
  }
  return messages.some((message) => /progress note is locked/i.test(message))
    ? final(new NoteLocked(route, 'the progress note is locked'))
    : final(refused('the Partner API does not accept the access token'), 'token-suspect');
}

/**
 * The two layers that answer with an error: the API's gateway (a bare `{message}`) and the application
 * (`{error: {…}}`, whose `message` is a string or an object with a `message` array). `error.type` is an
 * internal class name and means nothing.
 */
function shapeOf(body: unknown) {
  const { error, message }: JsonObject = isObject(body) ? body : {};
  if (isObject(error)) {
    return { layer: 'application', messages: messagesOf(error['message']) } as const;
  }
  if (typeof message === 'string') return { layer: 'gateway', messages: [message] } as const;
  return { layer: 'unknown', messages: [] } as const;
}

function messagesOf(message: unknown): readonly string[] {
  if (typeof message === 'string') return [message];
  if (Array.isArray(message)) return message.filter((text) => typeof text === 'string');
  return isObject(message) ? messagesOf(message['message']) : [];
}
