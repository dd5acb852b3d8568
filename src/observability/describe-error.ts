import { ownMessage } from './safe-text.ts';

export interface ErrorDescription {
  readonly error: string;
  readonly code?: string;
  /** Of our own errors only: they are written to be logged. */
  readonly detail?: string;
  /** Where in our source an unexpected one came from. */
  readonly at?: string;
}

// BAD_USER_INPUT is ours too, but its message may repeat what the caller sent.
const LOGGABLE_CODES = new Set([
  'CONFIG',
  'UNAUTHENTICATED',
  'NOT_FOUND',
  'QUERY_TOO_EXPENSIVE',
  'OUTCOME_UNKNOWN',
  'EVENTS_EXPIRED',
  'TIMEOUT',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_RATE_LIMITED',
  'UPSTREAM_BAD_RESPONSE',
  'UPSTREAM_CREDENTIALS',
  'UPSTREAM_ROUTE',
  'STORE_UNAVAILABLE',
]);
const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;
const CLASS_NAME = /^[A-Za-z]\w{0,63}$/;
const OWN_FRAME = /^\s+at .*\b(src\/[\w/-]+\.ts:\d+)/m;

/** An error by its class and code. A stranger's message may quote a body or a URL, so it is left out. */
export function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) return { error: error === null ? 'null' : typeof error };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const own = LOGGABLE_CODES.has(code);
  const frame = own ? undefined : OWN_FRAME.exec(framesOf(error))?.[1];
  return {
    error: CLASS_NAME.test(error.name) ? error.name : 'Error',
    ...(CODE.test(code) && { code }),
    ...(own && { detail: ownMessage(error.message) }),
    ...(frame !== undefined && { at: frame }),
  };
}

/** The stack without the message that it begins with: that can look like a frame. */
function framesOf({ stack = '', message }: Error): string {
  const at = stack.indexOf(message);
  return at < 0 ? stack : stack.slice(at + message.length);
}
