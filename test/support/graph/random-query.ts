import * as fc from 'fast-check';
import { type GraphQLObjectType, getNamedType, isLeafType, isObjectType } from 'graphql';

import { NODE_TYPES, printed } from './leaves.ts';

/** Upward links and events: what they lead to may have to be searched for, which no estimate foresees. */
export const ELSEWHERE = new Set(['clinic', 'organization', 'client', 'session', 'events']);

export interface Start {
  readonly field: string;
  readonly type: string;
}

/** A random valid query that starts from one of these records. */
export const queryFrom = (starts: readonly Start[]): fc.Arbitrary<string> =>
  fc
    .array(
      fc.constantFrom(...starts).chain(({ field, type }) =>
        // Only its id is available: its attributes would have to be searched for.
        selectionOf(type, 3, false).map((selection) => `${field} { ${selection} }`),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((fields) => `{ ${fields.map((field, n) => `f${n}: ${field}`).join(' ')} }`);

function selectionOf(name: string, depth: number, isWhole: boolean): fc.Arbitrary<string> {
  const type = printed.getType(name) as GraphQLObjectType;
  const fields = Object.values(type.getFields()).filter((field) => !ELSEWHERE.has(field.name));
  const options = fields.flatMap((field) => {
    const of = getNamedType(field.type);
    if (isLeafType(of)) {
      return isWhole || isOfTheIdAlone(field.name) ? [fc.constant(field.name)] : [];
    }
    if (NODE_TYPES.has(of.name)) return [fc.constant(`${field.name} { id raw }`)];
    if (!isObjectType(of) || !of.name.endsWith('Connection') || depth === 0) return [];
    const inner = connectionOf(of, depth - 1);
    return [
      fc
        .tuple(windowOf(depth), inner)
        .map(([args, members]) => `${field.name}${args} { ${members} }`),
    ];
  });
  return fc
    .array(fc.oneof(...options), { minLength: 1, maxLength: 3 })
    .map((selections) => ['id', ...selections.map(aliased)].join(' '));
}

/** Its ids, and what has a route of its own. */
const isOfTheIdAlone = (field: string) => /^id$|(?<!xternal)Id$|[a-z]Status$/.test(field);

/** Each under its own alias, so that a query can have two windows of one list. */
const aliased = (selection: string, n: number) => `s${n}: ${selection}`;

function connectionOf(type: GraphQLObjectType, depth: number): fc.Arbitrary<string> {
  const node = type.name.replace(/Connection$/, '');
  const row = selectionOf(node, depth, true);
  const pageInfo = fc
    .subarray(['hasNextPage', 'hasPreviousPage', 'startCursor', 'endCursor'], { minLength: 1 })
    .map((names) => `pageInfo { ${names.join(' ')} }`);
  return fc
    .tuple(
      fc.option(fc.constant('totalCount')),
      fc.option(pageInfo),
      fc.option(row.map((inner) => `nodes { ${inner} }`)),
      fc.option(row.map((inner) => `edges { cursor node { ${inner} } }`)),
    )
    .map((members) => ['__typename', ...members.filter((member) => member !== null)].join(' '));
}

/** Wide at the top and narrow below, so that a query stays within some hundred calls. */
function windowOf(depth: number): fc.Arbitrary<string> {
  const count = fc.integer({ min: 1, max: depth === 3 ? 45 : 4 });
  return fc.oneof(
    count.map((n) => `(first: ${n})`),
    count.map((n) => `(last: ${n})`),
  );
}
