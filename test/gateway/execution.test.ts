import * as fc from 'fast-check';
import {
  type ExecutionResult,
  GraphQLError,
  type GraphQLFieldResolver,
  type ValidatedExecutionArgs,
  buildSchema,
  executeRootSelectionSet,
  isObjectType,
  parse,
  validate,
  validateExecutionArgs,
} from 'graphql';
import { describe, expect, it } from 'vitest';

import { CodedError, NotFound } from '../../src/errors.ts';
import { createErrorMasking } from '../../src/gateway/plugins/use-error-masking.ts';
import { createExecutor } from '../../src/gateway/plugins/use-execution.ts';
import { fastestMs } from '../support/fastest.ts';
import { openGateway } from '../support/gateway.ts';
import { artifactId } from '../support/global-id.ts';

const schema = buildSchema(`
  scalar JSON
  input Patch { patch: JSON, n: Int }
  interface Named { name: String }
  type Row implements Named {
    name: String, need: String!, later: String, rows: [Row!], loose: [Row], one: Row, must: Row!
    any: Either, some: [Either!], echo(value: Int, list: [Int!]): String, wrong: Int
  }
  type Other implements Named { name: String, only: Int!, row: Row }
  union Either = Row | Other
  type Query { row: Row, must: Row!, any: Either, named: Named, json(value: JSON, patch: Patch): JSON, nothing: String, nothingLater: String }
`);

/** Resolved by graphql-jit, which hands over the bare variables. */
let compiledFields = 0;
/** The fields as their `info` names them. */
const resolved: string[] = [];

/** What a field does depends on where it stands, so that both executors meet the same failures. */
function resolverOf(name: string, type: string): GraphQLFieldResolver<unknown, { seed: number }> {
  return (_parent, args: Record<string, unknown>, { seed }, info) => {
    const { path, variableValues } = info;
    resolved.push(`${name} ${info.fieldName} ${info.fieldNodes[0]!.name.value}`);
    if (!('coerced' in variableValues)) compiledFields += 1;
    let hash = seed;
    for (let at: typeof path | undefined = path; at; at = at.prev)
      for (const letter of String(at.key)) hash = (hash * 31 + letter.charCodeAt(0)) % 997;
    const row = { __typename: hash % 3 ? 'Row' : 'Other' };
    if (hash % 11 === 0) throw new Error(`failed ${hash}`);
    if (hash % 13 === 0) return Promise.reject(new Error(`rejected ${hash}`));
    if (hash % 7 === 0) return null;
    const isList = type.startsWith('[');
    const value = /Row|Either|Other|Named/.test(type) ? fitting(type, row) : scalarOf(name, args);
    const settled = isList ? [value, value, Promise.resolve(value)].slice(hash % 3) : value;
    return hash % 2 ? Promise.resolve(settled) : settled;
  };
}

const fitting = (type: string, row: { __typename: string }) =>
  /Row|Other/.exec(type) ? { __typename: /Row|Other/.exec(type)![0] } : row;

function scalarOf(name: string, args: Record<string, unknown>): unknown {
  if (name === 'wrong') return 'no number';
  return name === 'only' ? 1 : `${name} ${JSON.stringify(args)}`;
}

for (const type of Object.values(schema.getTypeMap())) {
  if (!isObjectType(type) || type.name.startsWith('__')) continue;
  for (const field of Object.values(type.getFields()))
    field.resolve ??= resolverOf(field.name, String(field.type));
}
const query = schema.getQueryType()!.getFields();
query['json']!.resolve = (_root, args: object) => args;
query['nothing']!.resolve = () => {
  // oxlint-disable-next-line no-throw-literal
  throw undefined;
};
// oxlint-disable-next-line prefer-promise-reject-errors
query['nothingLater']!.resolve = () => Promise.reject(undefined);

const CONDITIONS = ['@include(if: $yes)', '@skip(if: $yes)', '@skip(if: $no) @include(if: $yes)'];

/** Selections on a Row: with fragments and merged fields, or with conditions. */
function selectionsWith(has: 'fragments' | 'conditions') {
  const isPlain = has === 'conditions';
  const condition = isPlain ? fc.constantFrom('', ...CONDITIONS) : fc.constant('');
  const LEAVES = ['name', 'need', 'later', '__typename', 'wrong', 'echo(list: [1, 2])'];
  const SPREADS = ['...Leaf', '... { later }', '... on Named { name }', '... on Row { need }'];
  const { set } = fc.letrec<{ set: string; row: string }>((tie) => ({
    row: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.tuple(fc.constantFrom(...LEAVES), condition).map((parts) => parts.join(' ')),
      fc.constantFrom('echo(value: $n)', ...(isPlain ? [] : SPREADS)),
      fc
        .tuple(fc.constantFrom('rows', 'loose', 'one', 'must'), condition, tie('set'))
        .map(([name, when, inner]) => `${name} ${when} { ${inner} }`),
    ),
    // Each under an alias of its own, or not: then they are merged.
    set: fc
      .array(tie('row'), { minLength: 1, maxLength: 4 })
      .map((all) =>
        all
          .map((each, i) => (each.startsWith('.') || (!isPlain && i % 2) ? each : `f${i}: ${each}`))
          .join(' '),
      ),
  }));
  return set.map((inner) =>
    isPlain
      ? `query Q($yes: Boolean = true, $no: Boolean = false, $n: Int = 5) {
          row { ${inner} } must @include(if: $yes) { ${inner} } last: row { ok: name @skip(if: $no) n: echo(value: $n) } }`
      : `query Q($n: Int = 5) { row { ${inner} } must { ${inner} ...Leaf } last: row { n: echo(value: $n) } }
        fragment Leaf on Row { name later need }`,
  );
}

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
  return { data, failures: failures.toSorted() };
}

describe('graphql-jit', () => {
  it('answers every document as graphql-js does, errors and their paths included', async () => {
    const property = fc.asyncProperty(
      fc.oneof(selectionsWith('fragments'), selectionsWith('conditions')),
      fc.nat(996),
      fc.record({ yes: fc.boolean(), no: fc.boolean(), n: fc.nat(9) }, { requiredKeys: [] }),
      async (text, seed, variables) => {
        fc.pre(validate(schema, parse(text)).length === 0);
        const args = argsOf(text, seed, variables);
        expect(comparable(await compiled(args))).toEqual(
          comparable(await executeRootSelectionSet(args)),
        );
      },
    );
    compiledFields = 0;
    await fc.assert(property, { numRuns: 100 });
    expect(compiledFields).toBeGreaterThan(500);
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
  ])('loses no __proto__ key of %s', async (_where, text, variables) => {
    const args = argsOf(text, 0, JSON.parse(variables));
    const { data } = await compiled(args);
    expect(JSON.stringify(data)).toContain('"__proto__":{"a":1}');
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
