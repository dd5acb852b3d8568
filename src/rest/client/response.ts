import { isUtf8 } from 'node:buffer';
import { isNestedTooDeep, isObject } from '../json.ts';
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
} from '../errors.ts';
import type { Verdict } from './breaker.ts';
import { retryAfterMsOf } from './retry.ts';
import type { Failure } from './retry.ts';
import type { Attempt } from './transport.ts';

/** A body that is not JSON. */
export const notJson: unique symbol = Symbol('not JSON');

export function jsonOf({ body, contentType }: Attempt): unknown {
  if (isPage(contentType) || !isUtf8(body)) return notJson;
  try {
    const json: unknown = JSON.parse(body.toString('utf8'));
    return isNestedTooDeep(json) ? notJson : json;
  } catch {
    return notJson;
  }
}

/** Proxies and firewalls in between answer with a page. */
const isPage = (contentType: string): boolean =>
  !contentType.startsWith('application/json') && /html/i.test(contentType);

/** A 2xx accepts a write whatever its body says, unless that is a proxy's page or JSON that broke off. */
export function isAcceptance({ body, contentType }: Attempt): boolean {
  return !isPage(contentType) && !/^\s*[[{]/.test(body.toString('latin1', 0, 64));
}

/** Any answer but a 5xx shows that the API is up: a 4xx is about the request. */
export function verdictOf({ outcome, status }: Attempt): Verdict {
  if (outcome === 'answered') return status >= 500 ? 'failing' : 'healthy';
  return outcome === 'aborted' || outcome === 'garbled' ? 'unclear' : 'failing';
}

/** What an attempt means that did not bring the answer that was wanted. */
export function failureOf(route: string, attempt: Attempt, wallNow: number): Failure {
  const { outcome, status } = attempt;
  switch (outcome) {
    case 'answered':
      if (status < 200 || status >= 300) return statusFailureOf(route, attempt, wallNow);
      return broken(route, 'wanted JSON, but got something else');
    case 'unsent': {
      const error = new PartnerUnavailable(route, 'no connection could be made');
      return { kind: 'unsent', error, isUnclear: false };
    }
    case 'timeout':
    case 'reset': {
      const error = new PartnerUnavailable(route, `no answer came (${outcome})`);
      return { kind: 'unanswered', error, isUnclear: true };
    }
    case 'cut':
      return { ...broken(route, 'the answer broke off'), kind: 'unanswered' };
    case 'garbled':
      return broken(route, 'the answer is not HTTP, or too large');
    default:
      return { kind: 'final', error: new OperationAborted(route), isUnclear: false };
  }
}

const broken = (route: string, what: string): Failure => ({
  kind: 'final',
  error: new PartnerContractBroken(route, what),
  isUnclear: true,
});

/** Branches on the status; the shape only tells 403s apart, and pages of a proxy from answers. */
function statusFailureOf(route: string, attempt: Attempt, wallNow: number): Failure {
  const { body, retryAfter, status } = attempt;
  const { layer, messages } = shapeOf(jsonOf(attempt));
  const isUnclear = status >= 500 || (status === 401 && layer !== 'application');
  if (status >= 500) {
    const error = new PartnerUnavailable(route, `answered with status ${status}`);
    return { kind: 'unanswered', error, isUnclear };
  }
  const final = { kind: 'final', isUnclear } as const;
  switch (status) {
    case 400:
      if (layer === 'unknown') break;
      return { ...final, error: new PartnerRejected(route, messages) };
    case 401: {
      const error = new PartnerCredentialsRefused(route, 'the access token was refused');
      return { kind: 'unauthorized', error, isUnclear };
    }
    case 403:
      if (layer === 'unknown') break;
      return { ...final, ...forbiddenOf(route, layer, messages) };
    case 404:
      // A page of a proxy must not make a record look deleted.
      if (layer === 'unknown' && body.length > 0) break;
      return { ...final, error: new PartnerNotFound(route, 'there is no such record') };
    case 409: {
      const error = new PartnerConflict(route, 'the request conflicts with the present state');
      return { ...final, error };
    }
    case 429: {
      const retryAfterMs = retryAfterMsOf(retryAfter, wallNow);
      const seconds = Math.ceil((retryAfterMs ?? 1000) / 1000);
      const error = new PartnerRateLimited(route, 'the Partner API asks for fewer calls', seconds);
      return { kind: 'throttled', error, isUnclear, retryAfterMs };
    }
  }
  const what = `answered with status ${status} in an unknown shape`;
  return { ...final, error: new PartnerContractBroken(route, what) };
}

function forbiddenOf(
  route: string,
  layer: 'gateway' | 'application',
  messages: readonly string[],
): Pick<Failure, 'error' | 'refused'> {
  if (layer === 'gateway') {
    return messages[0] === 'Missing Authentication Token'
      ? { error: new PartnerRouteMissing(route, 'the Partner API has no such route') }
      : {
          error: new PartnerCredentialsRefused(route, 'the API key was refused'),
          refused: 'api-key',
        };
  }
  if (messages.some((message) => /progress note is locked/i.test(message))) {
    return { error: new NoteLocked(route, 'the progress note is locked') };
  }
  const what = 'the Partner API does not accept the access token';
  return { error: new PartnerCredentialsRefused(route, what), refused: 'token' };
}

/**
 * The two layers that answer with an error: the API's gateway (a bare `{message}`) and the application
 * (`{error: {…}}`, whose `message` is a string or an object with a `message` array). `error.type` is an
 * internal class name and means nothing.
 */
interface Shape {
  readonly layer: 'gateway' | 'application' | 'unknown';
  readonly messages: readonly string[];
}

function shapeOf(body: unknown): Shape {
  if (isObject(body) && isObject(body['error'])) {
    return { layer: 'application', messages: messagesOf(body['error']['message']) };
  }
  if (isObject(body) && typeof body['message'] === 'string') {
    return { layer: 'gateway', messages: [body['message']] };
  }
  return { layer: 'unknown', messages: [] };
}

function messagesOf(message: unknown): readonly string[] {
  if (typeof message === 'string') return [message];
  if (Array.isArray(message)) return message.filter((text) => typeof text === 'string');
  return isObject(message) ? messagesOf(message['message']) : [];
}
