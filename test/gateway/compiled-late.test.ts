import {
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  type ValidatedExecutionArgs,
  parse,
  validateExecutionArgs,
} from 'graphql';
import { expect, it } from 'vitest';

import type { Context } from '../../src/context.ts';
import { planOf } from '../../src/gateway/compiled/compile.ts';
import { runPlan } from '../../src/gateway/compiled/run.ts';

const must = new GraphQLNonNull(GraphQLString);
const never = () => new Promise<never>(() => undefined);
const fails = () => {
  throw new Error('at once');
};
const failsAfter = (turns: number) => async () => {
  for (let i = 0; i < turns; i += 1) await new Promise((resolve) => setImmediate(resolve));
  throw new Error(`after ${turns}`);
};

const Part = new GraphQLObjectType({
  name: 'Part',
  fields: {
    never: { type: GraphQLString, resolve: never },
    must: { type: must, resolve: fails },
    mustLate: { type: must, resolve: failsAfter(1) },
    mustLater: { type: must, resolve: failsAfter(3) },
  },
});
const schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: {
      part: { type: Part, resolve: () => ({}) },
      latePart: { type: Part, resolve: async () => ({}) },
      list: { type: new GraphQLList(must), resolve: () => [never(), new Error('at once')] },
      afterAll: {
        type: GraphQLString,
        resolve: () => failsAfter(6)().catch(() => 'here'),
      },
    },
  }),
});

/** What a part that has become null would still wait for is waited for by nobody, and fails for nobody. */
it.each([
  ['{ part { never must } }', '{"part":null}'],
  ['{ part { never mustLate } }', '{"part":null}'],
  ['{ latePart { never must } }', '{"latePart":null}'],
  ['{ latePart { never mustLate } }', '{"latePart":null}'],
  ['{ list }', '{"list":null}'],
  ['{ part { mustLate mustLater } afterAll }', '{"part":null,"afterAll":"here"}'],
])('%s ends, with one error', { timeout: 5_000 }, async (document, data) => {
  const args = validateExecutionArgs({ schema, document: parse(document) });
  const { variableValues } = args as ValidatedExecutionArgs;
  const plan = planOf(args as ValidatedExecutionArgs);
  const executed = await runPlan(plan!, {} as Context, variableValues);
  expect(executed).toMatchObject({ data, errors: [{ message: expect.stringMatching(/^at|^af/) }] });
  expect(executed.errors).toHaveLength(1);
});
