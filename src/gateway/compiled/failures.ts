import { type GraphQLError, locatedError } from 'graphql';

import { type Place, giveUp, keysOf, nullableAt } from './place.ts';
import type { FieldPlan } from './plan.ts';

export interface Failure {
  readonly error: GraphQLError;
  /** What became null of it: the field itself, or the nearest above that may be. */
  readonly nulled: readonly (string | number)[];
}

/** Of one run of a plan. */
export interface Failures {
  readonly errors: Failure[];
  /** Places of the answer that something is awaited for. */
  awaited: number;
}

/** What may be null takes an error here; what may not passes it on to whatever holds it. */
export function failed(
  thrown: unknown,
  { nodes }: FieldPlan,
  place: Place,
  { errors }: Failures,
): string {
  const keys = keysOf(place);
  const error = locatedError(thrown, nodes, keys);
  if (!place.nullable) throw error;
  errors.push({ error, nulled: keys });
  return 'null';
}

/** Whoever holds it has been left long ago, and is found by its place. */
export function failedLate(
  thrown: unknown,
  { nodes }: FieldPlan,
  place: Place,
  failures: Failures,
): void {
  const error = locatedError(thrown, nodes, keysOf(place));
  const lost = nullableAt(place);
  failures.awaited -= giveUp(lost.text);
  lost.text = 'null';
  failures.errors.push({ error, nulled: keysOf(lost) });
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
