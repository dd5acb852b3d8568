import { isUtf8 } from 'node:buffer';
import { isNestedTooDeep } from '../../nesting.ts';
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
import type { PartnerError } from '../errors.ts';
import { isObject } from '../json.ts';
import type { Verdict } from './breaker.ts';
import { retryAfterMsOf } from './retry.ts';
import type { Failure } from './retry.ts';
import type { Attempt } from './transport.ts';

/** A body that is no JSON. */
export const notJson: unique symbol = Symbol('not JSON');

export function jsonOf({ body, contentType }: Attempt): unknown {
  // What a proxy or a firewall in between has to say comes as a page.
  if (/html/i.test(contentType) || !isUtf8(body)) return notJson;
  try {
    const json: unknown = JSON.parse(body.toString('utf8'));
    return isNestedTooDeep(json) ? notJson : json;
  } catch {
    return notJson;
  }
}

/** A write has been accepted whatever its answer says, unless that is a page of something in between, or half of one. */
export function isAcceptance({ body, contentType }: Attempt): boolean {
  return !/html/i.test(contentType) && !/^\s*[[{]/.test(body.toString('latin1', 0, 64));
}

/** An attempt that did not bring what was wanted. */
export interface Problem {
  readonly error: PartnerError;
  /** Undefined: another attempt could not help. */
  readonly failure: Failure | undefined;
  /** The request may have taken effect all the same. */
  readonly isUnclear: boolean;
  /** The application refused, and not because of a lock: perhaps it no longer knows our token. */
  readonly isTokenDoubtful: boolean;
}

export function problemOf(route: string, attempt: Attempt, wallNow: number): Problem {
  switch (attempt.outcome) {
    case 'answered':
      if (attempt.status >= 200 && attempt.status < 300) break;
      return refusalOf(route, attempt, wallNow);
    case 'unsent':
      return problem(new PartnerUnavailable(route, 'no connection could be made'), 'unsent', false);
    case 'timeout':
    case 'reset':
      return problem(new PartnerUnavailable(route, `no answer came (${attempt.outcome})`));
    case 'cut':
      return problem(new PartnerContractBroken(route, 'the answer broke off'));
    case 'garbled':
      return final(new PartnerContractBroken(route, 'the answer is no HTTP, or too large'), true);
    default:
      return final(new OperationAborted(route), false);
  }
  return final(new PartnerContractBroken(route, 'wanted JSON, but got something else'), true);
}

const problem = (
  error: PartnerError,
  kind: 'unsent' | 'unanswered' = 'unanswered',
  isUnclear = true,
): Problem => ({ error, failure: { kind }, isUnclear, isTokenDoubtful: false });

const final = (error: PartnerError, isUnclear: boolean): Problem => ({
  error,
  failure: undefined,
  isUnclear,
  isTokenDoubtful: false,
});

function refusalOf(route: string, attempt: Attempt, wallNow: number): Problem {
  const { body, retryAfter, status } = attempt;
  const shape = shapeOf(jsonOf(attempt), body.length === 0);
  const isEnvelope = shape.layer === 'application';
  const retryAfterMs = status === 429 ? retryAfterMsOf(retryAfter, wallNow) : undefined;
  return {
    error: errorOf(route, status, shape, retryAfterMs),
    failure: { kind: 'status', status, isEnvelope, retryAfterMs },
    isUnclear: status >= 500 || (status === 401 && !isEnvelope),
    isTokenDoubtful: status === 403 && isEnvelope && !isLock(shape.messages),
  };
}

/**
 * The two layers that answer with an error: the API's gateway (a bare `{message}`) and the application
 * (`{error: {…}}`, whose `message` is a string or an object with a `message` array). `error.type` is an
 * internal class name and means nothing.
 */
type Shape =
  | { readonly layer: 'gateway'; readonly messages: readonly string[] }
  | { readonly layer: 'application'; readonly messages: readonly string[] }
  | { readonly layer: 'unknown'; readonly messages: readonly string[]; readonly isEmpty: boolean };

function shapeOf(body: unknown, isEmpty: boolean): Shape {
  if (isObject(body) && isObject(body['error'])) {
    return { layer: 'application', messages: messagesOf(body['error']['message']) };
  }
  if (isObject(body) && typeof body['message'] === 'string') {
    return { layer: 'gateway', messages: [body['message']] };
  }
  return { layer: 'unknown', messages: [], isEmpty };
}

function messagesOf(message: unknown): readonly string[] {
  if (typeof message === 'string') return [message];
  if (Array.isArray(message)) return message.filter((text) => typeof text === 'string');
  return isObject(message) ? messagesOf(message['message']) : [];
}

const isLock = (messages: readonly string[]): boolean =>
  messages.some((message) => /progress note is locked/i.test(message));

/** The error for a status that is not 2xx. Branches on the status; the shape only tells 403s apart. */
function errorOf(
  route: string,
  status: number,
  shape: Shape,
  retryAfterMs: number | undefined,
): PartnerError {
  if (status >= 500) return new PartnerUnavailable(route, `answered with status ${status}`);
  switch (status) {
    case 400:
      if (shape.layer === 'unknown') break;
      return new PartnerRejected(route, shape.messages);
    case 401:
      return new PartnerCredentialsRefused(route, 'the access token was refused');
    case 403:
      return forbiddenOf(route, shape);
    case 404:
      // A page of something in between must not make a record look deleted.
      if (shape.layer === 'unknown' && !shape.isEmpty) break;
      return new PartnerNotFound(route, 'there is no such record');
    case 409:
      return new PartnerConflict(route, 'the request conflicts with the present state');
    case 429: {
      const seconds = Math.ceil((retryAfterMs ?? 1000) / 1000);
      return new PartnerRateLimited(route, 'the Partner API asks for fewer calls', seconds);
    }
  }
  return new PartnerContractBroken(route, `answered with status ${status} in an unknown shape`);
}

function forbiddenOf(route: string, { layer, messages }: Shape): PartnerError {
  if (layer === 'gateway') {
    return messages[0] === 'Missing Authentication Token'
      ? new PartnerRouteMissing(route, 'the Partner API has no such route')
      : new PartnerCredentialsRefused(route, 'the API key was refused');
  }
  if (layer === 'application') {
    return isLock(messages)
      ? new NoteLocked(route, 'the progress note is locked')
      : new PartnerCredentialsRefused(route, 'the Partner API does not accept the access token');
  }
  return new PartnerContractBroken(route, 'answered with status 403 in an unknown shape');
}

/** Any answer but a 5xx shows that the API is there: a 4xx is about the request. */
export function verdictOf({ outcome, status }: Attempt): Verdict {
  if (outcome === 'answered') return status >= 500 ? 'failing' : 'healthy';
  return outcome === 'aborted' || outcome === 'garbled' ? 'unclear' : 'failing';
}
