import * as fc from 'fast-check';
import {
  type ExecutionResult,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLInputObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  type ValidatedExecutionArgs,
  buildSchema,
  executeRootSelectionSet,
  getNamedType,
  isInputObjectType,
  isObjectType,
  parse,
  printSchema,
  specifiedRules,
  validate,
  validateExecutionArgs,
  visit,
} from 'graphql';
import { describe, expect, it, vi } from 'vitest';

import { Connection } from '../../src/connection/connection.ts';
import { CodedError, NotFound } from '../../src/errors.ts';
import { createErrorMasking } from '../../src/gateway/plugins/use-error-masking.ts';
import { createExecutor } from '../../src/gateway/plugins/use-execution.ts';
import { schema as gatewaySchema } from '../../src/schema/schema.ts';
import { fastestMs } from '../support/fastest.ts';
import { openGateway } from '../support/gateway.ts';
import { artifactId } from '../support/global-id.ts';

const schema = buildSchema(`
  scalar JSON
  input Patch { patch: JSON, n: Int, list: [Int!], inner: Inner }
  input Inner { n: Int }
  interface Named { name: String }
  type Row implements Named {
    name: String, need: String!, later: String, rows: [Row!], loose: [Row], one: Row, must: Row!
    any: Either, some: [Either!], wrong: Int
    echo(value: Int, list: [Int!], patch: Patch, json: JSON): String
    own: Int, ownMust: Int!, ownRows: [Row]
  }
  type Other implements Named { name: String, only: Int!, row: Row }
  union Either = Row | Other
  type Query {
    row: Row, must: Row!, any: Either, named: Named, json(value: JSON, patch: Patch): JSON
    pair: Pair, nothing: String, nothingLater: String
  }
  type Pair { ownFirst: Int!, ownSecond: Int! }
`);

/** graphql-jit hands over the bare variables. */
const isByJit = ({ variableValues }: GraphQLResolveInfo) => !('coerced' in variableValues);
/** Fields that it has resolved. */
let compiledFields = 0;
/** The fields as their `info` names them. */
const resolved: string[] = [];

/**
 * What a field does depends on where it stands, so that both executors meet the same failures. With an odd seed there are
 * few.
 */
function resolverOf(name: string, type: string): GraphQLFieldResolver<unknown, { seed: number }> {
  return (_parent, args: Record<string, unknown>, { seed }, info) => {
    const { path } = info;
    resolved.push(`${name} ${info.fieldName} ${info.fieldNodes[0]!.name.value}`);
    if (isByJit(info)) compiledFields += 1;
    const isFailing = seed % 2 === 0;
    let hash = seed;
    for (let at: typeof path | undefined = path; at; at = at.prev)
      for (const letter of String(at.key)) hash = (hash * 31 + letter.charCodeAt(0)) % 997;
    if (isFailing && hash % 11 === 0) throw new Error(`failed ${hash}`);
    if (isFailing && hash % 13 === 0) return Promise.reject(new Error(`rejected ${hash}`));
    if (isFailing && hash % 7 === 0) return null;
    const isList = type.startsWith('[');
    const value = /Row|Either|Other|Named/.test(type) ? rowOf(type, hash) : scalarOf(name, args);
    // No item rejects: graphql-jit would put its null in the wrong place. In our schema only items of `nodes` may.
    const settled = isList ? [value, value, Promise.resolve(value)].slice(hash % 3) : value;
    return hash % 2 ? Promise.resolve(settled) : settled;
  };
}

/** Its fields that begin with `own` have no resolver. */
function rowOf(type: string, hash: number): object {
  const typeName = /Row|Other/.exec(type)?.[0] ?? (hash % 3 ? 'Row' : 'Other');
  const row = { __typename: typeName, own: hash % 5 || null, ownMust: hash % 16 || null };
  return { ...row, ownRows: hash % 4 ? [row, null, row] : [] };
}

function scalarOf(name: string, { value, list, patch, json }: Record<string, unknown>): unknown {
  if (name === 'wrong') return 'no number';
  // graphql-jit has the arguments in another order.
  return name === 'only' ? 1 : `${name} ${JSON.stringify({ value, list, patch, json })}`;
}

for (const type of Object.values(schema.getTypeMap())) {
  if (!isObjectType(type) || type.name.startsWith('__')) continue;
  for (const field of Object.values(type.getFields()))
    if (!field.name.startsWith('own')) field.resolve = resolverOf(field.name, String(field.type));
}
const query = schema.getQueryType()!.getFields();
query['json']!.resolve = (_root, args: object) => args;
query['pair']!.resolve = () => ({ ownFirst: new Error('first'), ownSecond: new Error('second') });
query['nothing']!.resolve = () => {
  // oxlint-disable-next-line no-throw-literal
  throw undefined;
};
// oxlint-disable-next-line prefer-promise-reject-errors
query['nothingLater']!.resolve = () => Promise.reject(undefined);

type Feature = 'fragments' | 'conditions' | 'unions' | 'variables in literals';

const CONDITIONS = ['@include(if: $yes)', '@skip(if: $yes)', '@skip(if: $no) @include(if: $yes)'];
// Selections on a Row. A condition may stand at `@`, and `{…}` is a random selection set on a Row.
const LEAVES = ['name @', 'need @', 'later @', '__typename @', 'wrong @', 'own @', 'ownMust @'];
const ECHOES = [
  'echo(value: $n) @',
  'echo(list: [1, 2]) @',
  'echo(patch: $patch, json: $json) @',
  'echo(patch: { n: null, inner: {}, patch: [{ a: 1 }] }, value: $m) @',
];
const ECHOES_WITH_VARIABLES = [
  'echo(list: [$n, 2]) @',
  'echo(patch: { n: $m }) @',
  'echo(patch: { inner: { n: $m }, list: [$n] }) @',
  'echo(json: { a: $json }) @',
  'echo(json: [[$n]]) @',
];
const OBJECTS = ['rows @ {…}', 'loose @ {…}', 'one @ {…}', 'must @ {…}', 'ownRows @ {…}'];
const FRAGMENTS = [
  '...Leaf @',
  '... @ { later }',
  '... on Named @ { name }',
  '... on Row @ { need }',
  '... on Either @ { ... on Row @ { own later } ... on Other { only } }',
];
const UNIONS = [
  'any @ { __typename ... on Row @ {…} ... on Named { name } }',
  'any @ { ... on Other { only row {…} } ...Leaf @ }',
  'some @ { ... on Row {…} ... on Other @ { name only } }',
];

const VARIABLES =
  '$yes: Boolean = true, $no: Boolean = false, $n: Int = 5, $m: Int, $patch: Patch, $json: JSON';

/** Without fragments, each selection has an alias of its own. With them, some have none, and are merged. */
function documentsWith(...features: readonly Feature[]) {
  const has = (feature: Feature) => features.includes(feature);
  const ifHas = <T>(feature: Feature, ...items: readonly T[]) => (has(feature) ? items : []);
  const condition = fc.constantFrom('', ...ifHas('conditions', ...CONDITIONS));
  const selection = (templates: readonly string[], inner = fc.constant<string>('')) =>
    fc
      .tuple(fc.constantFrom(...templates), condition, inner)
      .map(([text, when, rows]) => text.replaceAll('@', when).replaceAll('{…}', `{ ${rows} }`));
  const aliased = (text: string, i: number) =>
    text.startsWith('.') || (has('fragments') && i % 2) ? text : `f${i}: ${text}`;
  const { set } = fc.letrec<{ set: string; row: string }>((tie) => ({
    row: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      selection(LEAVES),
      selection(ECHOES),
      ...ifHas('variables in literals', selection(ECHOES_WITH_VARIABLES)),
      ...ifHas('fragments', selection(FRAGMENTS)),
      selection(OBJECTS, tie('set')),
      ...ifHas('unions', selection(UNIONS, tie('set'))),
    ),
    set: fc
      .array(tie('row'), { minLength: 1, maxLength: 4 })
      .map((all) => all.map(aliased).join(' ')),
  }));
  const [include = ''] = ifHas('conditions', ...CONDITIONS);
  const [leaf = ''] = ifHas('fragments', '...Leaf');
  const last = `{ ok: name ${include} n: echo(value: $n) }`;
  return set.map(
    (inner) => `
      query Q(${VARIABLES}) { row { ${inner} } must ${include} { ${inner} ${leaf} } last: row ${last} }
      fragment Leaf on Row { name later need }`,
  );
}

const randomVariables = fc.record(
  {
    yes: fc.boolean(),
    no: fc.option(fc.boolean(), { freq: 20 }),
    n: fc.option(fc.nat(9), { freq: 20 }),
    m: fc.option(fc.nat(9)),
    patch: fc.option(
      fc.record(
        {
          n: fc.option(fc.nat(9)),
          list: fc.array(fc.nat(9)),
          patch: fc.jsonValue({ maxDepth: 1 }),
          inner: fc.constantFrom(null, {}, { n: 1 }),
        },
        { requiredKeys: [] },
      ),
    ),
    json: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: [] },
);

/** A document need not use all its variables and fragments. */
const RULES = specifiedRules.filter(({ name }) => !name.startsWith('NoUnused'));

function argsOf(text: string, seed = 0, variableValues: Record<string, unknown> = {}) {
  const document = parse(text);
  const contextValue = { seed };
  const args = validateExecutionArgs({ schema, document, contextValue, variableValues });
  if (!('schema' in args)) throw new Error(args[0]?.message);
  return args;
}

/** By graphql-js the first time, and by graphql-jit the second. */
async function compiled(args: ValidatedExecutionArgs): Promise<ExecutionResult> {
  const execute = createExecutor();
  await execute(args);
  return execute(args);
}

/** As a client gets it: one error for each null. */
function shown(result: ExecutionResult) {
  const { maskErrors } = createErrorMasking({ error: () => undefined }, 1_000);
  const errors = maskErrors(result, 0).map((error) => error.toJSON());
  return JSON.parse(JSON.stringify({ data: result.data, errors }));
}

/** One for all errors: a stack takes time to make. */
const absent = new NotFound();

it('one error of very many that differ only in list indices is returned', () => {
  const nodes = Array.from({ length: 501 }, () => ({ name: null, email: null }));
  const errorAt = (...path: (string | number)[]) =>
    new GraphQLError('x', { path, originalError: absent });
  const ofAll = nodes.flatMap((_, n) => [
    errorAt('nodes', n, 'name'),
    errorAt('nodes', n, 'email'),
  ]);
  expect(shown({ data: { nodes }, errors: ofAll.slice(0, 1_000) }).errors).toHaveLength(1_000);
  const bug = new GraphQLError('x', {
    path: ['nodes', 400, 'name'],
    originalError: new TypeError(),
  });
  expect(shown({ data: { nodes }, errors: [...ofAll, bug] }).errors).toMatchObject([
    { path: ['nodes', 0, 'email'] },
    { path: ['nodes', 0, 'name'] },
    { path: ['nodes', 400, 'name'], extensions: { code: 'INTERNAL_SERVER_ERROR' } },
  ]);
  expect(shown({ data: { nodes }, errors: ofAll }).errors).toMatchObject([
    { path: ['nodes', 0, 'email'] },
    { path: ['nodes', 0, 'name'] },
  ]);
});

it('the order of very many errors does not show which one occurred first', () => {
  const nodes = Array.from({ length: 1_001 }, () => ({ name: null }));
  const errors = nodes.map((_, n) => {
    return new GraphQLError('x', { path: ['nodes', n, 'name'], originalError: absent });
  });
  const late = [...errors.slice(700), ...errors.slice(0, 700)];
  expect(shown({ data: { nodes }, errors: late }).errors).toMatchObject([
    { path: ['nodes', 0, 'name'], extensions: { count: 1_001 } },
  ]);
});

it('an error that stands for many is not left out with the null of one row', () => {
  const nodes = Array.from({ length: 1_001 }, () => null);
  const errorOf = (name: string, n: number, originalError: Error) =>
    new GraphQLError('x', { path: ['nodes', n, name], originalError });
  const late = new CodedError('TIMEOUT', 'x');
  const errors = nodes.map((_, n) => errorOf('b', n, late));
  const all = [errorOf('a', 0, absent), ...errors];
  expect(shown({ data: { nodes }, errors: all }).errors).toMatchObject([
    { path: ['nodes', 0, 'a'] },
    { path: ['nodes', 1, 'b'], extensions: { count: 1_000 } },
  ]);
});

/**
 * Where several fields make the same parent null, either may be the one that is named. A field that stands in the
 * document several times has one location or all of them.
 */
function comparable(result: ExecutionResult) {
  const { data, errors } = shown(result);
  const failures = errors.map(
    ({ message, path }: { message: string; path: (string | number)[] }) => {
      let value = data;
      const depth = path.findIndex((key) => {
        if (value === null) return true;
        value = value[key];
        return false;
      });
      return `${message} ${JSON.stringify(depth < 0 ? path : path.slice(0, depth))}`;
    },
  );
  return { json: JSON.stringify(data), failures: failures.toSorted() };
}

/** The input types that may stand in a value of this one. */
function inputsIn(type: GraphQLInputObjectType, found = new Set<GraphQLInputObjectType>()) {
  for (const field of Object.values(type.getFields())) {
    const inner = getNamedType(field.type);
    if (!isInputObjectType(inner) || found.has(inner)) continue;
    found.add(inner);
    inputsIn(inner, found);
  }
  return found;
}

/**
 * Arguments and input fields with a default, which graphql-jit does not coerce, and recursive input types: a variable of
 * such a type blocks the event loop for seconds before compiling fails.
 */
function defaultsAndRecursionsOf(any: GraphQLSchema): readonly string[] {
  const names: string[] = [];
  visit(parse(printSchema(any)), {
    InputValueDefinition({ name, defaultValue }) {
      if (defaultValue) names.push(name.value);
    },
  });
  const inputs = Object.values(any.getTypeMap()).filter(isInputObjectType);
  return [...names, ...inputs.filter((type) => inputsIn(type).has(type)).map(({ name }) => name)];
}

interface Resolvable {
  resolve: GraphQLFieldResolver<unknown, unknown>;
}

describe('graphql-jit', () => {
  it('answers every document as graphql-js does, errors and their paths included', async () => {
    const property = fc.asyncProperty(
      fc.oneof(
        documentsWith('fragments'),
        documentsWith('conditions'),
        documentsWith('fragments', 'conditions'),
        documentsWith('fragments', 'unions'),
        documentsWith('conditions', 'unions'),
        documentsWith('variables in literals'),
      ),
      fc.nat(996),
      randomVariables,
      async (text, seed, variables) => {
        fc.pre(validate(schema, parse(text), RULES).length === 0);
        const args = argsOf(text, seed, variables);
        expect(comparable(await compiled(args))).toEqual(
          comparable(await executeRootSelectionSet(args)),
        );
      },
    );
    compiledFields = 0;
    await fc.assert(property, { numRuns: 150 });
    expect(compiledFields).toBeGreaterThan(100);
  });

  it('is not given conditions on selections that are merged with others: it would leave both out', async () => {
    const text = `query($no: Boolean = false) { row { ...F @include(if: $no) ...F } }
      fragment F on Row { __typename later }`;
    const args = argsOf(text, 1);
    expect(await executeRootSelectionSet(args)).toMatchObject({
      data: { row: { __typename: 'Row' } },
    });
    expect(shown(await compiled(args))).toEqual(shown(await executeRootSelectionSet(args)));
  });

  it('never runs the text of a string literal as code', async () => {
    // graphql-jit writes a date as this text and its time, and replaces that text in all literals by `new Date(…)`.
    const date = '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d';
    const code = 'globalThis.wasRun = true';
    const escaped = `"${date.replaceAll('_', '\\u005f')}${code}"`;
    for (const literal of [`"${date}${code}"`, `"""${date}${code}"""`, escaped]) {
      const args = argsOf(`{ row { name } json(value: ${literal}) }`);
      expect(await compiled(args)).toEqual(await executeRootSelectionSet(args));
      const withDefault = argsOf(`query($v: JSON = ${literal}) { row { name } json(value: $v) }`);
      expect(await compiled(withDefault)).toEqual(await executeRootSelectionSet(withDefault));
    }
    expect(globalThis).not.toHaveProperty('wasRun');
  });

  it('is not given aliases with an underscore: two paths could get the same info', async () => {
    const args = argsOf('{ r: row { x_y: one { later } } y_r: row { x: must { later } } }', 1);
    const seen = async (execute: (args: ValidatedExecutionArgs) => unknown) => {
      resolved.length = 0;
      await execute(args);
      return resolved.toSorted();
    };
    const expected = await seen(executeRootSelectionSet);
    expect(await seen(compiled)).toEqual([...expected, ...expected].toSorted());
  });

  it('is not given interfaces and unions: nested, they are compiled exponentially often', async () => {
    const nested = (levels: number): string =>
      levels === 0 ? 'name' : `some { ... on Row { ${nested(levels - 1)} } ... on Other { only } }`;
    const args = argsOf(`{ row { ${nested(12)} } }`, 1);
    compiledFields = 0;
    expect(await compiled(args)).toEqual(await executeRootSelectionSet(args));
    expect(compiledFields).toBe(0);
  });

  it('leaves the keys in their order where the first of two merged selections is left out', async () => {
    const text = 'query($no: Boolean = false) { row { name @include(if: $no) later name } }';
    const args = argsOf(text, 1);
    const [js, jit] = [await executeRootSelectionSet(args), await compiled(args)];
    expect(JSON.stringify(jit)).toBe(JSON.stringify(js));
  });

  it('does not take a variable that is left out from Object.prototype', async () => {
    const args = argsOf('query($toString: Int) { row { echo(value: $toString) } }', 1);
    expect(shown(await compiled(args))).toEqual(shown(await executeRootSelectionSet(args)));
  });

  it('is not given introspection, whose arguments have defaults', async () => {
    const args = argsOf('{ __schema { types { name fields { name } } } row { name } }', 1);
    expect(shown(await compiled(args))).toEqual(shown(await executeRootSelectionSet(args)));
  });

  it('is not used where null replaces the default of a variable', async () => {
    const text = 'query($yes: Boolean = true) { row { name later @include(if: $yes) } }';
    const args = argsOf(text, 1, { yes: null });
    expect(shown(await compiled(args))).toEqual(shown(await executeRootSelectionSet(args)));
  });

  it('compiles no document twice, so that alternating documents cost no more than their parsing', async () => {
    const execute = createExecutor(600);
    const texts = Array.from({ length: 40 }, (_, i) => `{ row { a${i}: name b: later c: need } }`);
    const all = texts.map((text) => argsOf(text, 1));
    const used = async () => {
      compiledFields = 0;
      for (const args of all) await execute(args);
      return compiledFields;
    };
    expect(await used()).toBe(0);
    expect(await used()).toBeGreaterThan(0);
    const large = Array.from({ length: 95 }, (_, i) => `a${i}: name`).join(' ');
    const others = Array.from({ length: 7 }, (_, i) => argsOf(`{ x${i}: row { ${large} } }`, 1));
    for (const args of [...others, ...others]) await execute(args);
    expect(await used()).toBe(0);
  });

  it('is not given a required variable that has a default', async () => {
    const args = argsOf('query($n: Int! = 5) { row { echo(value: $n) } }', 1);
    expect(shown(await compiled(args))).toEqual(shown(await executeRootSelectionSet(args)));
  });

  it.each([
    ['an input object', 'query($n: Int) { json(patch: { n: $n }) }', { patch: {} }],
    [
      'an object of a custom scalar',
      'query($n: Int = 1) { json(value: { a: $n }) }',
      { value: { a: 1 } },
    ],
    ['a list of a custom scalar', 'query($n: Int = 1) { json(value: [$n]) }', { value: [1] }],
  ])(
    'is not given variables inside %s: it would change their values',
    async (_where, text, json) => {
      expect(shown(await compiled(argsOf(text))).data).toEqual({ json });
    },
  );

  it('meets no default of an argument or input field in the schema, and no recursive input type', () => {
    const unsafe = buildSchema(`
      input Filter { or: [Other!], limit: Int = 5 }
      input Other { filter: Filter! }
      input Plain { n: Int }
      type Query { a(first: Int = 10, filter: Filter, plain: [Plain]): Int }
    `);
    expect(defaultsAndRecursionsOf(unsafe)).toEqual(['limit', 'first', 'Filter', 'Other']);
    expect(defaultsAndRecursionsOf(gatewaySchema)).toEqual([]);
  });

  it('is not given fragments that multiply: they are answered at once', async () => {
    const answered = async (length: number) => {
      const chain = Array.from(
        { length },
        (_, i) => `fragment F${i} on Row { ...F${i + 1} ...F${i + 1} }`,
      );
      const last = `fragment F${length} on Row { name }`;
      const args = argsOf(`{ row { ...F0 } } ${chain.join(' ')} ${last}`, 1);
      expect(await compiled(args)).toEqual(await executeRootSelectionSet(args));
    };
    // Written out, the second would take 2 to the power of 45 times as long.
    expect(await fastestMs(() => answered(90))).toBeLessThan(
      1_000 * (await fastestMs(() => answered(45))),
    );
  });

  it.each([
    ['a variable', 'query($v: JSON) { json(value: $v) }', '{"v":{"__proto__":{"a":1},"b":2}}'],
    ['an input', 'query($v: Patch) { json(patch: $v) }', '{"v":{"patch":{"__proto__":{"a":1}}}}'],
    ['a literal', '{ json(value: { __proto__: { a: 1 }, b: 2 }) }', '{}'],
    ['a default', 'query($v: JSON = { __proto__: { a: 1 } }) { json(value: $v) }', '{}'],
  ])('loses no __proto__ key of %s', async (_where, text, variables) => {
    const args = argsOf(text, 0, JSON.parse(variables));
    const { data } = await compiled(args);
    expect(JSON.stringify(data)).toContain('"__proto__":{"a":1}');
  });

  it('reports an error for each failing sibling, and a client gets one of them', async () => {
    const args = argsOf('{ pair { ownFirst ownSecond } }');
    const result = await compiled(args);
    expect(result.errors).toHaveLength(2);
    expect(shown(result)).toMatchObject({
      data: { pair: null },
      errors: [{ path: ['pair', 'ownFirst'] }],
    });
    expect(shown(result)).toEqual(shown(await executeRootSelectionSet(args)));
  });

  it('survives a resolver that throws undefined', async () => {
    const args = argsOf('{ nothing nothingLater }');
    const { data, errors } = shown(await compiled(args));
    expect(data).toEqual({ nothing: null, nothingLater: null });
    expect(errors).toMatchObject([
      { message: 'Unexpected error.', path: ['nothing'] },
      { message: 'Unexpected error.', path: ['nothingLater'] },
    ]);
  });

  it('keeps every item of nodes in its place if another one fails first', async () => {
    await using gateway = await openGateway();
    const { ids: known } = gateway.sandbox;
    const text = 'query($ids: [ID!]!) { nodes(ids: $ids) { ... on ProgressNote { isLoading } } }';
    for (const session of [0, 1, 2].map((index) => known.session(0, index))) {
      const note = artifactId(gateway, 'ProgressNote', session, known.client(0));
      const answer = await gateway.query(text, { ids: [note, 'no id'] });
      expect(answer.extensions.upstream.calls).toBeGreaterThan(0);
      expect(answer.data).toEqual({ nodes: [{ isLoading: false }, null] });
      expect(answer.errors).toMatchObject([{ path: ['nodes', 1] }]);
    }
  });

  it('executes a query of a gateway from its second use on, unless it is for an interface', async () => {
    await using gateway = await openGateway();
    const { ids } = gateway.sandbox;
    const { client, node } = gatewaySchema.getQueryType()!.getFields();
    using ofClient = vi.spyOn(client as Resolvable, 'resolve');
    using ofNode = vi.spyOn(node as Resolvable, 'resolve');
    // Other variables each time: an answer from the cache would not be executed.
    for (const index of [0, 1, 2]) {
      const id = ids.client(index);
      await gateway.query('query($id: ID!) { client(id: $id) { id } }', { id });
      await gateway.query('query($id: ID!) { node(id: $id) { id } }', { id });
    }
    const areByJit = ({ mock }: typeof ofClient) => mock.calls.map(([, , , info]) => isByJit(info));
    expect(areByJit(ofClient)).toEqual([false, true, true]);
    expect(areByJit(ofNode)).toEqual([false, false, false]);
  });

  it('builds the edges of a list once', async () => {
    await using gateway = await openGateway();
    using edges = vi.spyOn(Connection.prototype, 'edges', 'get');
    const list = 'query($first: Int!) { organizations(first: $first) { edges { cursor } } }';
    for (const first of [1, 2, 3]) await gateway.query(list, { first });
    expect(edges).toHaveBeenCalledTimes(3);
  });

  it('leaves look-ahead its variables, whatever they are called', async () => {
    await using gateway = await openGateway();
    const id = gateway.sandbox.ids.client(0);
    for (const name of ['wanted', 'coerced']) {
      const text = `query($id: ID!, $${name}: Boolean!) { client(id: $id) { firstName @include(if: $${name}) } }`;
      const variables = { id, [name]: true };
      const first = await gateway.query(text, variables);
      const queryAgain = () => gateway.query(`${text} # again`, variables);
      const answers = [await queryAgain(), await queryAgain()];
      expect(first.errors).toBeUndefined();
      expect(answers.map(({ data }) => data)).toEqual([first.data, first.data]);
    }
  });
});
