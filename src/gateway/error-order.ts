import type { GraphQLError } from 'graphql';

/**
 * Fields fail in the order in which they are decided, and how long that takes depends on what is known of a record:
 * the order must not tell what the errors themselves keep quiet. So they come as the document asks for them.
 */
export function inDocumentOrder(errors: readonly GraphQLError[]): readonly GraphQLError[] {
  return errors.length < 2 ? errors : errors.toSorted(byPlace);
}

function byPlace(a: GraphQLError, b: GraphQLError): number {
  return positionOf(a) - positionOf(b) || byPath(a.path ?? [], b.path ?? []);
}

const positionOf = ({ positions }: GraphQLError): number => positions?.[0] ?? 0;

/** The same field of several rows, or under several aliases. */
function byPath(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  const at = a.findIndex((key, i) => key !== b[i]);
  const [left, right] = [a[at], b[at]];
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return String(left) < String(right) ? -1 : 1;
}
