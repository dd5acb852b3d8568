import { readFileSync } from 'node:fs';

import {
  type GraphQLObjectType,
  buildSchema,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql';

export const printed = buildSchema(
  readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'),
);

/** The types that implement Node. */
export const NODE_TYPES = new Set(
  printed.getPossibleTypes(typeNamed('Node')).map(({ name }) => name),
);

/** Every field of a type that takes no argument and leads to no other node: the fields of the record itself. */
export function leavesOf(name: string): string {
  const type = printed.getType(name) as GraphQLObjectType;
  return Object.values(type.getFields())
    .map(({ name: field, type: of }) => {
      const named = getNamedType(of);
      if (isLeafType(named)) return field;
      return isObjectType(named) && isOwn(named) ? `${field} { ${leavesOf(named.name)} }` : '';
    })
    .join(' ');
}

/** Parts of a record, such as the answers of a score: in no list, and no nodes. */
const isOwn = ({ name }: GraphQLObjectType) =>
  !NODE_TYPES.has(name) && !name.endsWith('Connection');

function typeNamed(name: string) {
  return printed.getType(name) as Parameters<typeof printed.getPossibleTypes>[0];
}
