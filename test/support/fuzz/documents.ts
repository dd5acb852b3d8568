import { readFileSync } from 'node:fs';

import * as fc from 'fast-check';
import {
  type GraphQLArgument,
  type GraphQLNamedType,
  type GraphQLType,
  buildSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isUnionType,
} from 'graphql';

import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { documents } from '../leak/actions.ts';
import { anyText, anyValue } from './values.ts';

const schema = buildSchema(
  readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'),
);
const DEEPEST = 4;

/** One in `n`. */
const seldom = (g: fc.GeneratorValue, n: number): boolean => g(fc.nat, n - 1) === 0;
// By number: fast-check compares its values, and a schema is cyclic.
const pick = <T>(g: fc.GeneratorValue, from: readonly T[]): T => from[g(fc.nat, from.length - 1)]!;

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object' && value !== null) return '{ a: 1 }';
  return JSON.stringify(value) ?? 'null';
}

const KINDS = ['Query', 'Query', 'Query', 'Mutation', 'Subscription'] as const;
const WRONG = ['__schema { types { name } }', 'nosuch', '...F', 'id id', '@skip'];

/** Documents that the schema nearly allows: its own fields and arguments, with something wrong here and there. */
export function documentsOf(sandbox: Sandbox): fc.Arbitrary<string> {
  const [text, value] = [anyText(sandbox), anyValue(sandbox)];
  const [ofText, ofValue] = [() => text, () => value];

  function selection(g: fc.GeneratorValue, type: GraphQLNamedType, depth: number): string {
    if (isUnionType(type) || (isInterfaceType(type) && seldom(g, 2))) {
      const member = pick(g, schema.getPossibleTypes(type));
      return `{ __typename ... on ${member.name} ${selection(g, member, depth + 1)} }`;
    }
    if (!isObjectType(type) && !isInterfaceType(type)) return '';
    const all = Object.values(type.getFields());
    // Only leaves at the bottom, or hardly any document would be valid.
    const fields = all.filter((field) => depth < DEEPEST || isLeafType(getNamedType(field.type)));
    if (fields.length === 0) return '{ __typename }';
    const picked = Array.from({ length: 1 + g(fc.nat, 2) }, (_, n) => {
      if (seldom(g, 150)) return pick(g, WRONG);
      const field = pick(g, fields);
      const alias = seldom(g, 6) ? '' : `a${n}: `;
      const directive = seldom(g, 20) ? ' @include(if: $x)' : '';
      const below = selection(g, getNamedType(field.type), depth + 1);
      return `${alias}${field.name}${given(g, field.args)}${directive} ${below}`;
    });
    return `{ ${picked.join(' ')} }`;
  }

  function given(g: fc.GeneratorValue, args: readonly GraphQLArgument[]): string {
    const some = args.filter(({ type }) => String(type).endsWith('!') || seldom(g, 3));
    const texts = some.map(({ name, type }) => `${name}: ${argument(g, type)}`);
    return texts.length > 0 ? `(${texts.join(', ')})` : '';
  }

  function argument(g: fc.GeneratorValue, type: GraphQLType): string {
    if (seldom(g, 40)) return literal(g(ofValue));
    const named = getNamedType(type);
    if (String(type).startsWith('[')) return seldom(g, 4) ? '[]' : `[${argument(g, named)}]`;
    if (isInputObjectType(named)) {
      const fields = Object.values(named.getFields());
      const some = fields.filter((field) => String(field.type).endsWith('!') || seldom(g, 3));
      return `{ ${some.map((field) => `${field.name}: ${argument(g, field.type)}`).join(', ')} }`;
    }
    if (isEnumType(named)) return pick(g, named.getValues()).name;
    return named.name === 'Int' ? String(g(fc.nat, 12)) : literal(g(ofText));
  }

  return fc.gen().map((g) => {
    const kind = pick(g, KINDS);
    const name = seldom(g, 3) ? '' : 'Fuzzed';
    const body = selection(g, schema.getType(kind)!, 0);
    const variables = body.includes('$x') ? '($x: Boolean!)' : '';
    return `${kind.toLowerCase()} ${name}${variables} ${body}`;
  });
}

const tokensOf = (document: string): string[] => document.match(/\w+|\.\.\.|\S/g) ?? [];
const CORPUS = Object.values(documents);
const TOKENS = CORPUS.flatMap(tokensOf);

/** Valid documents with random edits. */
export const mutatedDocuments: fc.Arbitrary<string> = fc.gen().map((g) => {
  const tokens = tokensOf(pick(g, CORPUS));
  for (let left = g(fc.nat, 4); left >= 0; left -= 1) {
    const at = g(fc.nat, tokens.length - 1);
    const how = g(fc.nat, 3);
    if (how === 0) tokens.splice(at, 1);
    else if (how === 1) tokens.splice(at, 0, pick(g, TOKENS));
    else if (how === 2) tokens[at] = g(fc.string, { unit: 'binary', maxLength: 8 });
    else tokens.splice(at, 0, ...tokens.slice(at, at + 6));
  }
  return tokens.join(' ');
});
