import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Gateway, type GraphQLAnswer, openGateway, tokenFor } from '../support/gateway.ts';
import { ofTokens, times } from '../support/graph/sized-documents.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway({ env: { GRAPHIQL: 'off' } });
});
afterAll(() => gateway.close());
beforeEach(() => gateway.sandbox.resetCounts());

const NEW_TYPE = { accept: 'application/graphql-response+json' };
const ask = (document: string, variables?: object) => gateway.query(document, variables, NEW_TYPE);

/** Rejected before the first call: 400 for clients that read the status, 200 for those that don't, never data. */
async function expectRefused(document: string, variables?: object): Promise<GraphQLAnswer> {
  const answer = await ask(document, variables);
  expect([answer.status, answer.data]).toEqual([400, undefined]);
  expect(answer.errors?.length).toBeLessThanOrEqual(5);
  const plain = await gateway.query(document, variables);
  expect([plain.status, plain.data]).toEqual([200, undefined]);
  expect(gateway.sandbox.countOf()).toBe(0);
  return answer;
}

async function expectTooDeep(document: string): Promise<void> {
  const { errors } = await expectRefused(document);
  expect(errors?.[0]?.message).toContain('at most 24 levels of fields');
}

const nested = (depth: number) => `{ ${deep(depth)} }`;

/** `clinic.organization.clinics.nodes.organization…`: each name is one level. */
function deep(depth: number): string {
  const names = ['organization', 'clinics(first:1)', 'nodes'];
  const levels = Array.from({ length: depth - 2 }, (_, i) => names[i % 3]!);
  const open = ['clinic(id:"7f000000-0000-4000-8000-000000000001")', ...levels];
  return `${open.join('{')}{__typename${'}'.repeat(open.length)}`;
}

describe('the size of a document', () => {
  it('allows 30 root fields and rejects 31', async () => {
    expect((await ask(`{ ${times(30, (i) => `a${i}: __typename`)} }`)).status).toBe(200);
    await expectRefused(`{ ${times(31, () => '__typename')} }`);
    await expectRefused(`{ ${times(101, (i) => `alias${i}: __typename`)} }`);
  });

  it('allows 30 records by id, each with its own access check, and rejects 31', async () => {
    const { ids } = gateway.sandbox;
    const own = { authorization: `Bearer ${await tokenFor([`session:${ids.session(0, 0)}`])}` };
    const notes = (count: number) =>
      `{ ${times(count, (i) => `a${i}: progressNote(id: "${ids.note(i, 0)}", sessionId: "${ids.session(i, 0)}") { note }`)} }`;
    const { a0, ...others } = (await gateway.query(notes(30), {}, own)).data;
    expect(a0.note.length).toBeGreaterThan(0);
    expect(new Set(Object.values(others))).toEqual(new Set([null]));
    gateway.sandbox.resetCounts();
    await expectRefused(notes(31));
  });

  it('allows 30 aliases below the root and rejects 31', async () => {
    expect((await ask(`{ viewer { ${times(30, (i) => `a${i}: subject`)} } }`)).status).toBe(200);
    await expectRefused(`{ viewer { ${times(31, (i) => `a${i}: subject`)} } }`);
  });

  it('counts aliases in a fragment as often as it is spread', async () => {
    const fragment = `fragment F on Viewer { ${times(16, (i) => `a${i}: subject`)} }`;
    await expectRefused(`{ viewer { ...F } b: viewer { ...F } } ${fragment}`);
  });

  it('allows 20 directives and rejects 21', async () => {
    const directives = (count: number) =>
      `{ viewer { ${times(count, () => 'subject @include(if: true)')} } }`;
    expect((await ask(directives(20))).status).toBe(200);
    await expectRefused(directives(21));
  });

  it('allows depth 24 and rejects 25, in one selection', async () => {
    expect((await ask(nested(24))).status).toBe(200);
    gateway.sandbox.resetCounts();
    await expectTooDeep(nested(25));
  });

  it('allows five nested lists as `edges { node }`', async () => {
    const lists = ['organizations', 'clinics', 'clinicians', 'clients', 'sessions'];
    const document = lists.reduceRight(
      (inner, list) => `${list}(first: 1) { edges { node { ${inner} } } }`,
      'progressNote { note }',
    );
    const { data } = await ask(`{ ${document} }`);
    expect(JSON.stringify(data)).toContain('"note"');
  });

  it('counts depth through 25 chained fragments, a fragment spread twice, and inline ones', async () => {
    const names = ['organization', 'clinics(first: 1)', 'nodes'] as const;
    const types = ['Clinic', 'Organization', 'OrganizationClinicsConnection'] as const;
    // One of them has the name of a field of the schema itself.
    const named = (i: number) => (i === 12 ? '__schema' : `F${i}`);
    const link = (i: number, inner: string) =>
      `fragment ${named(i)} on ${types[i % 3]} { ${names[i % 3]} { ${inner} } }`;
    const chain = times(24, (i) => link(i, i < 23 ? `...${named(i + 1)}` : '__typename'));
    await expectTooDeep(`{ clinic(id: "${gateway.sandbox.ids.clinic(0)}") { ...F0 } } ${chain}`);
    const step = 'clinics(first: 1) { nodes { organization {';
    const twice = `fragment F on Organization { ${step} ${step} __typename }}} }}} }`;
    // Once where it fits, and once where its own levels are too many.
    const spread = `{ organizations(first: 1) { nodes { ...F ${step.repeat(6)} ...F ${'}}}'.repeat(6)} } } } ${twice}`;
    await expectTooDeep(spread);
    expect(
      (
        await ask(
          spread
            .replaceAll(step.repeat(6), step.repeat(5))
            .replace('}}}'.repeat(6), '}}}'.repeat(5)),
        )
      ).status,
    ).toBe(200);
    gateway.sandbox.resetCounts();
    await expectTooDeep(
      `{ ... on Query { ${deep(25).replaceAll('{', '{ ... {').replaceAll('}', '} }')} } }`,
    );
  });

  it('rejects fragments that spread themselves', async () => {
    await expectRefused('{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }');
  });

  it('does not expand fragments that double at every level', async () => {
    const fragments = times(40, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`);
    // Expanded, these are 2^40 fields: the test would never end.
    await expectRefused(`{ ...F0 } ${fragments} fragment F40 on Query { a: __typename }`);
  });

  it('allows 1,000 tokens and 15,000 characters, and rejects one more', async () => {
    expect((await ask(ofTokens(1_000))).status).toBe(200);
    await expectRefused(ofTokens(1_001));
    for (const count of [500, 3_000])
      await expectRefused(`{ ${times(count, () => '__typename')} }`);
    const long = (characters: number) => `{ __typename } #`.padEnd(characters, '#');
    expect((await ask(long(15_000))).status).toBe(200);
    await expectRefused(long(15_001));
    await expectRefused(`{ __typename } ${'#'.repeat(16_000)}`);
    await expectRefused(`{ __typename ${','.repeat(16_000)} }`);
    await expectRefused(`query ${'a'.repeat(200_000)} { __typename }`);
    for (const count of [2_000, 20_000]) await expectRefused('{a'.repeat(count));
  });

  it('allows 1,000 lines and rejects one more: each error costs time for the lines before it', async () => {
    const below = (breaks: string) => `{ ${breaks} __typename }`;
    expect((await ask(below('\r\n'.repeat(999)))).status).toBe(200);
    for (const lineBreak of ['\n', '\r', '\r\n'])
      await expectRefused(below(lineBreak.repeat(1_000)));
  });

  it('reports five errors at most', async () => {
    const { errors } = await expectRefused(`{ viewer { ${times(9, (i) => `nope${i}`)} } }`);
    expect(errors).toHaveLength(5);
  });
});

it('echoes no value of 200 kB', async () => {
  const { errors } = await ask('query($id: ID!) { client(id: $id) { clientId } }', {
    id: 'x'.repeat(200_000),
  });
  expect(errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  expect(JSON.stringify(errors).length).toBeLessThan(1_000);
});
