/** One error as a client reads it. */
export interface SpokenError {
  readonly message: string;
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>> & { readonly code: string };
}

/** An operation that was not begun: no call was made for it. */
export interface Refusal {
  readonly refused: true;
  /** What HTTP says of it; GraphQL's own refusals are 200 for clients that ask for `application/json`. */
  readonly status: number;
  /** True where HTTP itself, not GraphQL, refuses: then the status is the same for every client. */
  readonly isTransport: boolean;
  readonly errors: readonly SpokenError[];
}

/** For people to read in a moment. */
const MOST_ERRORS = 5;

export function refuse(
  code: string,
  message: string,
  extensions: Readonly<Record<string, unknown>> = {},
): Refusal {
  return refuseWith([{ message, extensions: { ...extensions, code } }]);
}

export function refuseWith(errors: readonly SpokenError[], status = 400): Refusal {
  return { refused: true, status, isTransport: false, errors: errors.slice(0, MOST_ERRORS) };
}

export function refuseTransport(status: number, message: string, code = 'BAD_USER_INPUT'): Refusal {
  const errors = [{ message, extensions: { code } }];
  return { refused: true, status, isTransport: true, errors };
}

export const isRefusal = (value: object): value is Refusal => 'refused' in value;
