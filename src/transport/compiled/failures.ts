import type { GraphQLError } from 'graphql';

/** Where in the answer: made only for what can hold more fields, and read only for errors. */
export interface Path {
  readonly above: Path | undefined;
  readonly key: string | number;
}

export interface Failure {
  readonly error: GraphQLError;
  /** What became null of it: the field itself, or the nearest above that may be. */
  readonly nulled: readonly (string | number)[];
}

/**
 * Errors of what an error further up has made null anyway are left out: nobody can see their place. By name and not by
 * comparing each with each: where the calls run out, every row that is left has failed.
 */
export function tellable(failures: readonly Failure[]): readonly GraphQLError[] {
  const nameOf = (keys: Failure['nulled']) => JSON.stringify(keys);
  const names = new Set(failures.map(({ nulled }) => nameOf(nulled)));
  const isShown = ({ nulled }: Failure) =>
    !nulled.some((_, length) => names.has(nameOf(nulled.slice(0, length))));
  return failures.filter(isShown).map(({ error }) => error);
}

export function keysOf(path: Path): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at: Path | undefined = path; at; at = at.above) keys.unshift(at.key);
  return keys;
}
