import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { expectClientErrors } from '../support/fuzz/expect-response.ts';
import { type Gateway, openGateway, post, tokenFor } from '../support/gateway.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway({ env: { GRAPHIQL: 'off' } });
});
afterAll(() => gateway.close());

const ACCEPT = { accept: 'application/graphql-response+json' };
const LIST = 'query($n: Int) { organizations(first: $n) { totalCount } }';
const NODE = 'query($id: ID!) { node(id: $id) { id } }';

/** A document, and variables or the name of an operation. */
type Odd = readonly [string, object?, string?];

async function ask([query, variables, operationName]: Odd) {
  gateway.sandbox.resetCounts();
  const authorization = `Bearer ${await tokenFor(['partner'])}`;
  return post(gateway.url, { query, variables, operationName }, { ...ACCEPT, authorization });
}

/** Each contains a name that must not be echoed where it is a value. */
const REJECTED: readonly Odd[] = [
  // Names and characters.
  ['{ \\u0076iewer { subject } }'],
  ['{ vïewer { subject } }'],
  ['{ viewer\u0000 { subject } }'],
  ['{ viewer\u00a0{ subject } }'],
  ['{ viewer\u2028{ subject } }'],
  ['{ node(id: "\\uD800") { id } }'],
  ['{ node(id: "\\u{110000}") { id } }'],
  ['{ node(id: "Quibblesworth) { id } }'],
  ['{ node(id: """Quibblesworth) { id } }'],
  // Operations.
  ['   '],
  ['# nothing'],
  ['{'],
  ['query A { viewer { subject } }', {}, 'Quibblesworth'],
  ['query A { viewer { subject } }', {}, '__proto__'],
  ['{ viewer { subject } }', {}, ''],
  ['query A { viewer { subject } } query A { __typename }', {}, 'A'],
  ['{ viewer { subject } } query B { __typename }', {}, 'B'],
  ['query A { viewer { subject } } query B { __typename }'],
  ['{ viewer { subject } } { __typename }'],
  ['type Query { x: Int } { viewer { subject } }'],
  ['extend type Query { x: Int }'],
  ['subscription { events { cursor } noteReady { cursor } }'],
  ['subscription { __typename }'],
  ['subscription {}'],
  // Fragments.
  ['fragment F on Query { viewer { subject } }'],
  ['{ viewer { subject } } fragment F on Query { viewer { subject } }'],
  ['{ ...F } fragment F on Query { __typename } fragment F on Query { __typename }'],
  ['{ ...F }'],
  ['{ ...F } fragment F on Nobody { id }'],
  ['{ viewer { ... on String { subject } } }'],
  ['{ viewer { ... on Client { id } } }'],
  ['{ ...F } fragment F($x: Int) on Query { __typename }'],
  // Directives.
  ['{ viewer @include(if: true) @include(if: true) { subject } }'],
  ['{ viewer @nobody(name: "Quibblesworth") { subject } }'],
  ['query @include(if: true) { viewer { subject } }'],
  ['{ viewer @include { subject } }'],
  ['{ viewer @include(if: null) { subject } }'],
  ['{ viewer @deprecated { subject } }'],
  ['{ viewer @defer { subject } }'],
  ['{ ... @defer { viewer { subject } } }'],
  ['{ organizations { nodes @stream { name } } }'],
  // Introspection.
  ['{ viewer { __schema { types { name } } } }'],
  ['{ __typename { name } }'],
  // Fields and arguments.
  ['{ viewer { subject { x } } }'],
  ['{ a: viewer { subject } a: organizations { totalCount } }'],
  ['{ organizations(first: 1, first: 2) { totalCount } }'],
  ['{ organizations(nobody: "Quibblesworth") { totalCount } }'],
  ['{ clinic(id: "x") { clients(filter: { email: "a", email: "b" }) { totalCount } } }'],
  ['{ clinic(id: "x") { clients(filter: { __proto__: { a: 1 } }) { totalCount } } }'],
  // Numbers.
  [`{ organizations(first: ${'9'.repeat(500)}) { totalCount } }`],
  ['{ organizations(first: 01) { totalCount } }'],
  ['{ organizations(first: -0) { totalCount } }'],
  [LIST, { n: 1.5 }],
  [LIST, { n: '1' }],
  [LIST, { n: ['Quibblesworth'] }],
  [LIST, { n: { Quibblesworth: 1 } }],
  // Variables.
  ['{ organizations(first: $n) { totalCount } }'],
  ['query($n: Int) { viewer { subject } }'],
  ['query($n: Int, $n: Int) { organizations(first: $n) { totalCount } }'],
  ['query($n: Nobody) { organizations(first: $n) { totalCount } }'],
  ['query($n: Client) { organizations(first: $n) { totalCount } }'],
  ['query($n: String) { organizations(first: $n) { totalCount } }'],
  [NODE],
  [NODE, { id: null }],
  [`{ nodes(ids: ${'['.repeat(400)}${']'.repeat(400)}) { id } }`],
];

/** Unusual, but valid. */
const ACCEPTED: readonly Odd[] = [
  ['\ufeff{ viewer { subject } }'],
  ['"described" query A { viewer { subject } }'],
  ['{ __schema: viewer { subject } }'],
  ['{ __proto__: viewer { constructor: subject toString: subject } }'],
  ['{ then: viewer { then: subject } catch: __typename }'],
  ['{ viewer @skip(if: true) { subject } }'],
  ['{ viewer { subject } }', { nobody: { asked: ['for', 'this'] } }],
  ['query A { viewer { subject } } query B { __typename }', {}, 'B'],
  [
    'query A { viewer { subject } } mutation B { authenticateClinician(input: { clinicianId: "x" }) { __typename } }',
    {},
    'A',
  ],
];

const titled = (odd: Odd): [string, Odd] => [JSON.stringify(odd).slice(0, 90), odd];

describe('an unusual document', () => {
  it('is executed with the variables that its cost was estimated by', async () => {
    const document = `query($__proto__: Boolean!, $constructor: String) {
      organizations(first: 5) {
        nodes { clinics(first: 5) @skip(if: $__proto__) { nodes { name } } }
      }
      clinic(id: "${gateway.sandbox.ids.clinic(0)}") {
        clients(first: 1, filter: { name: $constructor }) { totalCount }
      }
    }`;
    const { data, errors, extensions } = await ask([document, JSON.parse('{"__proto__":true}')]);
    expect(errors).toBeUndefined();
    expect(data.organizations.nodes[0]).toEqual({});
    expect(data.clinic.clients.totalCount).toBeGreaterThan(0);
    expect(extensions.upstream).toMatchObject({ estimated: 2, calls: 2 });
  });

  it('gets the data of its other fields if one is passed null for a required argument', async () => {
    const { ids } = gateway.sandbox;
    const document = `query($id: ID = "${ids.clinic(0)}") { viewer { subject } clinic(id: $id) { clinicId } }`;
    const { status, data, errors } = await ask([document, { id: null }]);
    expect([status, data]).toEqual([200, { viewer: { subject: 'tester' }, clinic: null }]);
    expect(errors).toMatchObject([{ path: ['clinic'], extensions: { code: 'BAD_USER_INPUT' } }]);
  });

  it.each(REJECTED.map(titled))('is rejected with a message of the gateway: %s', async (_, odd) => {
    const { status, data, errors } = await ask(odd);
    expect([status, data]).toEqual([400, undefined]);
    expectClientErrors(errors, 'document');
    expect(JSON.stringify(errors)).not.toContain('Quibblesworth');
    expect(gateway.sandbox.countOf()).toBe(0);
  });

  it.each(ACCEPTED.map(titled))('is executed where it is valid: %s', async (_, odd) => {
    const { status, data, errors } = await ask(odd);
    expect([status, errors]).toEqual([200, undefined]);
    expect(data).toBeTypeOf('object');
    expect(({} as Record<string, unknown>)['asked']).toBeUndefined();
  });
});
