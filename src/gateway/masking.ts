import type { GraphQLError } from 'graphql';

import type { SpokenError } from './refusal.ts';

/** Codes whose messages were written for clients to read. Whatever else is thrown is masked. */
const SPOKEN: ReadonlySet<unknown> = new Set([
  'UNAUTHENTICATED',
  'NOT_FOUND',
  'BAD_USER_INPUT',
  'QUERY_TOO_EXPENSIVE',
  'OUTCOME_UNKNOWN',
  'EVENTS_EXPIRED',
  'TIMEOUT',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_RATE_LIMITED',
  'UPSTREAM_BAD_RESPONSE',
  'UPSTREAM_CREDENTIALS',
  'UPSTREAM_ROUTE',
]);

/** What such errors may tell beside their message. */
const TOLD = ['issues', 'retryAfter', 'estimate', 'limit', 'oldestCursor'] as const;

/** Where access can't be proven for want of the store, "not found" would be a lie, and this not our mistake. */
const STORE_DOWN: Pick<SpokenError, 'message' | 'extensions'> = {
  message: 'This gateway can’t reach its own store. Try again in a moment.',
  extensions: { code: 'UPSTREAM_UNAVAILABLE' },
};

const NOT_FOUND_MESSAGE = 'No such record, or none that you may see.';

interface OurError extends Error {
  readonly code: string;
}

/** An error of ours, thrown on purpose: told by its code, which only our own classes have. */
export function isOurs(error: unknown): error is OurError {
  return error instanceof Error && 'code' in error && SPOKEN.has(error.code);
}

const isOfStore = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'STORE_UNAVAILABLE';

/** The one place that decides what a client may read of a failure. */
export function spokenOf(error: GraphQLError, onMasked: (cause: unknown) => void): SpokenError {
  const cause = error.originalError ?? undefined;
  const where = placeOf(error);
  if (isOurs(cause)) return { message: messageOf(cause), ...where, extensions: toldOf(cause) };
  if (isOfStore(cause)) return { ...STORE_DOWN, ...where };
  // Without a cause it is graphql's own: a value of the wrong type, a null where none may be.
  if (cause === undefined && error.extensions['code'] === 'BAD_USER_INPUT') {
    return { message: error.message, ...where, extensions: { code: 'BAD_USER_INPUT' } };
  }
  onMasked(cause ?? error);
  return { message: 'Unexpected error.', ...where, extensions: { code: 'INTERNAL_SERVER_ERROR' } };
}

/** Absent and forbidden must look the same, whoever noticed. */
const messageOf = (error: OurError): string =>
  'clientMessage' in error && typeof error.clientMessage === 'string'
    ? error.clientMessage
    : error.code === 'NOT_FOUND'
      ? NOT_FOUND_MESSAGE
      : error.message;

function toldOf(error: OurError): SpokenError['extensions'] {
  const told = TOLD.filter((name) => name in error && error[name as never] !== undefined);
  return {
    ...Object.fromEntries(told.map((name) => [name, error[name as never]])),
    code: error.code,
  };
}

function placeOf({ locations, path }: GraphQLError): Pick<SpokenError, 'locations' | 'path'> {
  return { ...(locations && { locations }), ...(path && { path }) };
}

const LONGEST_MESSAGE = 300;

/** graphql's messages quote what was sent: a value may be a patient's, and may be 200 kB long. */
export function withoutValues(message: string): string {
  const [, prefix = '', rest = message] =
    /^(Variable "\$\w{1,100}" has invalid value(?: at [\w.[\]]{1,200})?: )?(.*)$/s.exec(message) ??
    [];
  const redacted = rest
    .replace(/(value|found): .*$/s, '$1 that does not fit.')
    .replace(/^Value ".*" does not exist/s, 'The value does not exist')
    .replace(/\b(String|Int|Float) ".*"/s, '$1')
    .replace(/[,.]? did you mean .*$/is, '.')
    .replace(/unknown field ".*"/s, 'unknown field')
    .replace(/Unknown operation named ".*"/s, 'Unknown operation name');
  return `${prefix}${redacted}`.slice(0, LONGEST_MESSAGE);
}
