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

/** What only a program's insides say. */
const INSIDES =
  /node_modules|\.[cm]?[jt]s:\d|\/src\/|Cannot (read|set|convert)|is not (a function|iterable)|(Type|Range|Reference)Error|Maximum call stack|did you mean/i;

interface SaidError {
  readonly message?: unknown;
  readonly extensions?: { readonly code?: unknown };
}

/** Throws unless every error is one that was meant to be read. */
export function expectSpoken(errors: unknown, of: string): void {
  const told = INSIDES.exec(JSON.stringify(errors))?.[0];
  if (told) throw new Error(`${of}: tells of its insides (${told})`);
  if (!Array.isArray(errors) || errors.length === 0) throw new Error(`${of}: no list of errors`);
  for (const { message, extensions } of errors as readonly SaidError[]) {
    if (typeof message !== 'string' || message === '') throw new Error(`${of}: no message`);
    if (!CODES.has(extensions?.code)) throw new Error(`${of}: code ${String(extensions?.code)}`);
  }
}

/** Throws unless it is a GraphQL answer as clients can rely on it. Answers it. */
export function expectClean(status: number, text: string, of: string): { data?: unknown } {
  if (status >= 500) throw new Error(`${of}: status ${status}`);
  const answer = JSON.parse(text) as { data?: unknown; errors?: unknown };
  if (answer.errors !== undefined) expectSpoken(answer.errors, of);
  else if (answer.data === undefined) throw new Error(`${of}: neither data nor errors`);
  return answer;
}
