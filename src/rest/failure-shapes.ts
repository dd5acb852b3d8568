import {
  NoteLocked,
  PartnerConflict,
  PartnerContractBroken,
  PartnerCredentialsRefused,
  PartnerNotFound,
  PartnerRateLimited,
  PartnerRejected,
  PartnerRouteMissing,
  PartnerUnavailable,
} from './errors.ts';
import type { PartnerError } from './errors.ts';
import { isObject } from './json.ts';

/**
 * The two layers that answer with an error: the API's gateway (a bare `{message}`) and the application
 * (`{error: {…}}`, whose `message` is a string or an object with a `message` array). `error.type` is an
 * internal class name and means nothing.
 */
export type FailureShape =
  | { readonly layer: 'gateway'; readonly message: string }
  | { readonly layer: 'application'; readonly messages: readonly string[] }
  | { readonly layer: 'unknown'; readonly isEmpty: boolean };

export function shapeOf(body: unknown, isEmpty: boolean): FailureShape {
  if (isObject(body) && isObject(body['error'])) {
    return { layer: 'application', messages: messagesOf(body['error']['message']) };
  }
  if (isObject(body) && typeof body['message'] === 'string') {
    return { layer: 'gateway', message: body['message'] };
  }
  return { layer: 'unknown', isEmpty };
}

function messagesOf(message: unknown): readonly string[] {
  if (typeof message === 'string') return [message];
  if (Array.isArray(message)) return message.filter((text) => typeof text === 'string');
  return isObject(message) ? messagesOf(message['message']) : [];
}

const LOCKED = /progress note is locked/i;

export function isLock(shape: FailureShape): boolean {
  return shape.layer === 'application' && shape.messages.some((message) => LOCKED.test(message));
}

/** The API's application refused, and not because of a lock: perhaps it no longer knows our token. */
export function isDistrust(status: number, shape: FailureShape): boolean {
  return status === 403 && shape.layer === 'application' && !isLock(shape);
}

/** The error for a status that is not 2xx. Branches on the status; the shape only tells 403s apart. */
export function errorOf(
  route: string,
  status: number,
  shape: FailureShape,
  retryAfterMs: number | undefined,
): PartnerError {
  const messages = shape.layer === 'application' ? shape.messages : [];
  if (status >= 500) return new PartnerUnavailable(route, `answered with status ${status}`);
  switch (status) {
    case 400:
      if (shape.layer === 'unknown') break;
      return new PartnerRejected(route, shape.layer === 'gateway' ? [shape.message] : messages);
    case 401:
      return new PartnerCredentialsRefused(route, 'the access token was refused');
    case 403:
      return forbiddenOf(route, shape);
    case 404:
      // A page of somebody in between must not make a record look deleted.
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

function forbiddenOf(route: string, shape: FailureShape): PartnerError {
  if (shape.layer === 'gateway') {
    return shape.message === 'Missing Authentication Token'
      ? new PartnerRouteMissing(route, 'the Partner API has no such route')
      : new PartnerCredentialsRefused(route, 'the API key was refused');
  }
  if (shape.layer === 'application') {
    return isLock(shape)
      ? new NoteLocked(route, 'the progress note is locked')
      : new PartnerCredentialsRefused(route, 'the Partner API does not accept the access token');
  }
  return new PartnerContractBroken(route, 'answered with status 403 in an unknown shape');
}
