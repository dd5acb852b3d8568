import * as fc from 'fast-check';
import {
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  execute,
  parse,
  validateExecutionArgs,
  type GraphQLError,
  type ValidatedExecutionArgs,
} from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { planOf } from '../../src/gateway/compiled/compile.ts';
import { runPlan } from '../../src/gateway/compiled/run.ts';
import { type Gateway, openGateway } from '../support/gateway.ts';
import { queryFrom } from '../support/graph/random-query.ts';

/** Whether a value comes at once or later, is null or fails, depends on where it stands and on the run alone. */
interface Thing {
  readonly kind: 'Thing' | 'Other';
  readonly place: string;
}

function fate(run: number, place: string): number {
  let hash = run;
  for (const character of place) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193) >>> 0;
  return hash % 97;
}

function valueAt(run: number, place: string, make: () => unknown): unknown {
  const roll = fate(run, place);
  const value = () => {
    if (roll % 11 === 3) throw new Error(`no ${place}`);
    return roll % 13 === 5 ? null : make();
  };
  return roll % 2 === 0 ? Promise.resolve().then(value) : value();
}

const field = (type: unknown, make: (place: string) => unknown) => ({
  type: type as never,
  args: { n: { type: GraphQLInt } },
  resolve: (parent: Thing | undefined, args: { n?: number }, run: number, info?: unknown) => {
    void info;
    const place = `${parent?.place ?? ''}.${String(make)}${args.n ?? ''}`;
    return valueAt(run, place, () => make(place));
  },
});

const one = (place: string): Thing => ({ kind: fate(7, place) % 2 ? 'Thing' : 'Other', place });
const thing = (place: string): Thing => ({ kind: 'Thing', place });
/** Rows that fail do so as promises or as errors in their place: a list is made whole. */
function many(place: string): unknown[] {
  return [0, 1, 2].map((n) => {
    try {
      const row = valueAt(fate(1, place), `${place}${n}`, () => thing(`${place}${n}`));
      // graphql's own executor lets go of rows behind one that failed, unheard.
      if (row instanceof Promise) row.catch(() => undefined);
      return row;
    } catch (error) {
      return error;
    }
  });
}

const fields = () => ({
  text: field(GraphQLString, (place) => `${place}"\u2028é`),
  must: field(new GraphQLNonNull(GraphQLString), () => 'x'),
  number: field(GraphQLInt, (place) => place.length),
  thing: field(Thing, thing),
  mustThing: field(new GraphQLNonNull(Thing), thing),
  any: field(Any, one),
  things: field(new GraphQLList(Thing), many),
  mustThings: field(new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(Thing))), many),
  anyThings: field(new GraphQLList(Any), (place) => [one(`${place}a`), one(`${place}b`)]),
});

const Any: GraphQLInterfaceType = new GraphQLInterfaceType({
  name: 'Any',
  fields: () => ({ text: { type: GraphQLString, args: { n: { type: GraphQLInt } } } }),
  resolveType: (value: Thing) => value.kind,
});
const Thing: GraphQLObjectType = new GraphQLObjectType({
  name: 'Thing',
  interfaces: [Any],
  fields,
});
const Other: GraphQLObjectType = new GraphQLObjectType({
  name: 'Other',
  interfaces: [Any],
  fields,
});
const schema = new GraphQLSchema({
  query: new GraphQLObjectType({ name: 'Query', fields }),
  types: [Other],
});

const selection = fc.letrec<{ set: string }>((tie) => ({
  set: fc
    .array(
      fc.oneof(
        { maxDepth: 4, depthIdentifier: 'selection' },
        fc.constantFrom(
          'text',
          'must',
          'number',
          'a: text(n: 1)',
          'b: number(n: $n)',
          '__typename',
        ),
        fc
          .tuple(
            fc.constantFrom('thing', 'mustThing', 'things', 'mustThings', 'c: thing(n: $n)'),
            tie('set'),
          )
          .map(([name, set]) => `${name} ${set}`),
        fc
          .tuple(fc.constantFrom('any', 'anyThings'), tie('set'), tie('set'))
          .map(([name, a, b]) => `${name} { __typename text ... on Thing ${a} ... on Other ${b} }`),
        tie('set').map((set) => `... ${set}`),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((selections) => `{ ${selections.join(' ')} }`),
}));

/**
 * Errors that can be seen: where an error has made something further up null, graphql tells of others below it or not,
 * as they happened to come; we never do.
 */
function told(data: unknown, errors: readonly GraphQLError[] = []): string[] {
  const isShown = (path: readonly (string | number)[]) => {
    let at = data as Record<string, unknown> | null;
    for (const key of path.slice(0, -1)) at = (at?.[key] ?? null) as typeof at;
    return at !== null;
  };
  return errors
    .filter(({ path = [] }) => isShown(path))
    .map(
      ({ path, message }) =>
        `${path?.join('.')} ${message.startsWith('Cannot') ? 'null' : message}`,
    )
    .toSorted();
}

it("answers as graphql's own executor does, whatever fails, is null or comes late", async () => {
  const property = fc.asyncProperty(
    selection.set,
    fc.nat(),
    fc.nat({ max: 3 }),
    async (set, run, n) => {
      const document = parse(`query($n: Int) ${set}`);
      const args = { schema, document, variableValues: { n }, contextValue: run };
      const validated = validateExecutionArgs(args);
      // Fields that can't be merged are refused before anything is executed.
      if (!('schema' in validated)) return;
      const plan = planOf(validated)!;
      const [expected, actual] = await Promise.all([
        execute(args),
        runPlan(plan, run as never, validated.variableValues),
      ]);
      expect(JSON.parse(actual.data)).toEqual(JSON.parse(JSON.stringify(expected.data)));
      const data: unknown = JSON.parse(actual.data);
      expect(told(data, actual.errors)).toEqual(told(data, expected.errors));
      expect(actual.errors.length > 0).toBe((expected.errors?.length ?? 0) > 0);
    },
  );
  await fc.assert(property, { numRuns: 400, seed: 11, endOnFailure: true });
});

it('lets no rejection go unheard', async () => {
  const unheard: unknown[] = [];
  const hear = (reason: unknown) => unheard.push(reason);
  process.on('unhandledRejection', hear);
  const rows = () => [
    Promise.reject(new Error('one')),
    new Error('two'),
    Promise.reject(new Error('three')),
  ];
  const list = new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLString)));
  const rowsOnly = new GraphQLSchema({
    query: new GraphQLObjectType({
      name: 'Query',
      fields: { rows: { type: list, resolve: rows } },
    }),
  });
  const validated = validateExecutionArgs({ schema: rowsOnly, document: parse('{ rows }') });
  const args = validated as ValidatedExecutionArgs;
  const { data } = await runPlan(planOf(args)!, undefined as never, args.variableValues);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', hear);
  expect([data, unheard]).toEqual(['null', []]);
});

let gateway: Gateway;
beforeAll(async () => {
  const wide = {
    LIMIT_ALIASES: '1000',
    LIMIT_DOCUMENT_TOKENS: '100000',
    LIMIT_DOCUMENT_CHARACTERS: '1000000',
  };
  gateway = await openGateway({ env: { ...wide, OPERATION_MAX_UPSTREAM_CALLS: '5000' } });
});
afterAll(() => gateway.close());

it('answers real queries as it does with a directive, which sends them the other way', async () => {
  const { ids } = gateway.sandbox;
  const starts = [
    { field: `clinic(id: "${ids.clinic(0)}")`, type: 'Clinic' },
    { field: `client(id: "${ids.client(1)}")`, type: 'Client' },
    { field: `session(id: "${ids.session(1, 0)}")`, type: 'Session' },
  ];
  const property = fc.asyncProperty(queryFrom(starts), async (document) => {
    const planned = await gateway.query(document);
    const other = await gateway.query(
      document.replace(/}$/, ' t: __typename @include(if: true) }'),
    );
    expect(planned.errors).toEqual(other.errors);
    expect({ ...planned.data, t: 'Query' }).toEqual(other.data);
  });
  await fc.assert(property, { numRuns: 25, seed: 5, endOnFailure: true });
});
