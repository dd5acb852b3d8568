import type { GraphQLError } from 'graphql';

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
