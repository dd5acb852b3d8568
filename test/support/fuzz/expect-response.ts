const CODES: ReadonlySet<unknown> = new Set([
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
  'PERSISTED_QUERY_NOT_SUPPORTED',
]);

/** Text that only internal errors have, and suggestions of names. After a comma graphql's parser suggests punctuation. */
const INTERNALS =
  /node_modules|\.[cm]?[jt]s:\d|\/src\/|Cannot (read|set|convert)|is not (a function|iterable)|(Type|Range|Reference)Error|Maximum call stack|[^,] did you mean/i;

interface GraphQLErrorLike {
  readonly message?: unknown;
  readonly extensions?: { readonly code?: unknown };
}

/** Throws unless every error has a message and a code for clients. */
export function expectClientErrors(errors: unknown, of: string): void {
  const internals = INTERNALS.exec(JSON.stringify(errors))?.[0];
  if (internals) throw new Error(`${of}: shows internals (${internals})`);
  if (!Array.isArray(errors) || errors.length === 0) throw new Error(`${of}: no list of errors`);
  for (const { message, extensions } of errors as readonly GraphQLErrorLike[]) {
    if (typeof message !== 'string' || message === '') throw new Error(`${of}: no message`);
    if (!CODES.has(extensions?.code)) throw new Error(`${of}: code ${String(extensions?.code)}`);
  }
}

/** Throws unless it is a GraphQL response with data or errors for clients. */
export function expectResponse(status: number, text: string, of: string): { data?: unknown } {
  if (status >= 500) throw new Error(`${of}: status ${status}`);
  const answer = JSON.parse(text) as { data?: unknown; errors?: unknown };
  if (answer.errors !== undefined) expectClientErrors(answer.errors, of);
  else if (answer.data === undefined) throw new Error(`${of}: neither data nor errors`);
  return answer;
}
