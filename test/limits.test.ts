import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Gateway, type GraphQLAnswer, openGateway } from './gateway.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway();
});
afterAll(() => gateway.close());
beforeEach(() => gateway.sandbox.resetCounts());

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const NEW_TYPE = { accept: 'application/graphql-response+json' };
const ask = (document: string, variables?: object) => gateway.query(document, variables, NEW_TYPE);

/** Refused before the first call: 400 for clients that read the status, 200 for those that don't, never data. */
async function expectRefused(document: string, variables?: object): Promise<GraphQLAnswer> {
  const answer = await ask(document, variables);
  expect([answer.status, answer.data]).toEqual([400, undefined]);
  expect(answer.errors?.length).toBeLessThanOrEqual(5);
  const plain = await gateway.query(document, variables);
  expect([plain.status, plain.data]).toEqual([200, undefined]);
  expect(gateway.sandbox.countOf()).toBe(0);
  return answer;
}

const times = (count: number, text: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join(' ');

const nested = (depth: number) => `{ ${deep(depth)} }`;

/** `clinic.organization.clinics.nodes.organization…`: each name is one level. */
function deep(depth: number): string {
  const names = ['organization', 'clinics(first:1)', 'nodes'];
  const levels = Array.from({ length: depth - 2 }, (_, i) => names[i % 3]!);
  const open = ['clinic(id:"7f000000-0000-4000-8000-000000000001")', ...levels];
  return `${open.join('{')}{__typename${'}'.repeat(open.length)}`;
}

describe('the size of a document', () => {
  it('takes 10 root fields and refuses 11', async () => {
    expect((await ask(`{ ${times(10, (i) => `a${i}: __typename`)} }`)).status).toBe(200);
    await expectRefused(`{ ${times(11, (i) => `a${i}: __typename`)} }`);
  });

  it('takes 30 aliases below the root and refuses 31', async () => {
    expect((await ask(`{ viewer { ${times(30, (i) => `a${i}: subject`)} } }`)).status).toBe(200);
    await expectRefused(`{ viewer { ${times(31, (i) => `a${i}: subject`)} } }`);
  });

  it('counts aliases in a fragment as often as it is spread', async () => {
    const fragment = `fragment F on Viewer { ${times(16, (i) => `a${i}: subject`)} }`;
    await expectRefused(`{ viewer { ...F } b: viewer { ...F } } ${fragment}`);
  });

  it('takes 20 directives and refuses 21', async () => {
    const directives = (count: number) =>
      `{ viewer { ${times(count, () => 'subject @include(if: true)')} } }`;
    expect((await ask(directives(20))).status).toBe(200);
    await expectRefused(directives(21));
  });

  it('takes depth 12 and refuses 13, in one selection', async () => {
    expect((await ask(nested(12))).status).toBe(200);
    gateway.sandbox.resetCounts();
    await expectRefused(nested(13));
  });

  it('counts depth through chained fragments, whatever their names', async () => {
    const names = ['A', '__schema', 'C', 'D', 'E'];
    const fragments = names.map((name, i) => {
      const next = names[i + 1];
      return `fragment ${name} on Organization { clinics { nodes { organization { ${next ? `...${next}` : '__typename'} } } } }`;
    });
    await expectRefused(`{ organizations { nodes { ...A } } } ${fragments.join(' ')}`);
  });

  it('refuses fragments that spread themselves, at once', async () => {
    const before = performance.now();
    await expectRefused('{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }');
    expect(performance.now() - before).toBeLessThan(1_000);
  });

  it('does not write out fragments that double at every level', async () => {
    const fragments = times(40, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`);
    const before = performance.now();
    await expectRefused(`{ ...F0 } ${fragments} fragment F40 on Query { a: __typename }`);
    expect(performance.now() - before).toBeLessThan(1_000);
  });

  it('refuses more than 1,000 tokens and more than 15,000 characters', async () => {
    await expectRefused(`{ ${times(1_000, () => '__typename')} }`);
    await expectRefused(`{ __typename } ${'#'.repeat(16_000)}`);
    await expectRefused(`{ __typename ${','.repeat(16_000)} }`);
    await expectRefused(`query ${'a'.repeat(200_000)} { __typename }`);
    await expectRefused('{a'.repeat(2_000));
  });
});

describe('what is not told', () => {
  it('gives no suggestions', async () => {
    const { errors } = await expectRefused('{ organisations { totalCount } viewer { subjct } }');
    expect(JSON.stringify(errors)).not.toMatch(/did you mean/i);
  });

  it.each([
    ['query($id: ID!) { client(id: $id) { clientId } }', { id: { secret: 'Sentinel' } }],
    [
      'query($d: Date) { clinic(id: "x") { clients(filter: { dateOfBirth: $d }) { totalCount } } }',
      { d: 'Sentinel' },
    ],
    [
      'query($s: ClientStatus) { clinic(id: "x") { clients(filter: { status: $s }) { totalCount } } }',
      { s: 'Sentinel' },
    ],
    [
      'query($f: ClientFilter) { clinician(id: "x") { clients(filter: $f) { totalCount } } }',
      { f: { Sentinel: 1 } },
    ],
    ['query($first: Int) { organizations(first: $first) { totalCount } }', { first: 'Sentinel' }],
  ])('does not echo the value of a variable: %s', async (document, variables) => {
    const { errors } = await expectRefused(document, variables);
    expect(JSON.stringify(errors)).not.toContain('Sentinel');
  });

  it('does not echo a value of 200 kB', async () => {
    const { errors } = await ask('query($id: ID!) { client(id: $id) { clientId } }', {
      id: 'x'.repeat(200_000),
    });
    expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect(JSON.stringify(errors).length).toBeLessThan(1_000);
  });

  it('returns nothing extra for tracing requests', async () => {
    const headers = { 'x-apollo-tracing': '1', 'graphql-query-plan': '1' };
    const { extensions } = await gateway.query('{ __typename }', {}, headers);
    expect(Object.keys(extensions)).toEqual(['upstream']);
  });
});

describe('what is not served', () => {
  it.each([
    '{ __typename @defer }',
    '{ ... @defer { __typename } }',
    '{ organizations { nodes @stream { name } } }',
    'query A { __typename } query B { __typename }',
    '{ __typename } { __typename }',
    'subscription { noteReady { cursor } events { cursor } }',
  ])('refuses %s', (document) => expectRefused(document).then(() => undefined));

  it('refuses a subscription over plain HTTP', async () => {
    const { status } = await ask('subscription { noteReady { cursor } }');
    expect([400, 406]).toContain(status);
  });
});

describe('memory', () => {
  it('holds still under hundreds of distinct documents, each some 300 kB once parsed', async () => {
    const fields = times(450, () => 'subject');
    const round = async (from: number) => {
      for (let i = from; i < from + 250; i += 1) await ask(`query Q${i} { viewer { ${fields} } }`);
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = await round(0);
    expect((await round(250)) - before).toBeLessThan(32 * 1024 * 1024);
  });
});
