import { randomUUID } from 'node:crypto';

import * as fc from 'fast-check';
import { type GraphQLObjectType, getNamedType, parse, validateExecutionArgs } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { schema } from '../../src/schema/schema.ts';
import { estimateCalls } from '../../src/schema/selections.ts';
import { createViewer } from '../../src/viewer/viewer.ts';
import {
  type Gateway,
  type GraphQLAnswer,
  openGateway,
  post,
  tokenFor,
} from '../support/gateway.ts';
import { fastestMs } from '../support/fastest.ts';
import { artifactId } from '../support/global-id.ts';
import { allChanges, change } from '../support/mutation/edits.ts';
import { callsTo, counted, failures } from '../support/graph/counted.ts';
import { NODE_TYPES } from '../support/graph/leaves.ts';
import { ELSEWHERE, queryFrom } from '../support/graph/random-query.ts';

let gateway: Gateway;
let ids: Gateway['sandbox']['ids'];
beforeAll(async () => {
  const wide = {
    LIMIT_ALIASES: '1000',
    LIMIT_DOCUMENT_TOKENS: '100000',
    LIMIT_DOCUMENT_CHARACTERS: '1000000',
  };
  gateway = await openGateway({ env: { ...wide, OPERATION_MAX_UPSTREAM_CALLS: '5000' } });
  ({ ids } = gateway.sandbox);
});
afterAll(() => gateway.close());

const CROSS = `{ organizations { nodes { clinics { nodes { clinicians { nodes { clients { nodes { sessions { nodes {
  progressNote { isLoading } } } } } } } } } } } }`;

describe('the worst case', () => {
  it('counts every field that leads to other records', () => {
    const callsOf = (type: string, selection: string) => {
      const document = parse(`{ node(id: "any") { ... on ${type} { ${selection} } } }`);
      const validated = validateExecutionArgs({ schema, document });
      if (!('schema' in validated)) throw validated[0]!;
      return estimateCalls(validated, createViewer('any', []).reach).calls;
    };
    const uncounted = [...NODE_TYPES].flatMap((type) =>
      Object.values((schema.getType(type) as GraphQLObjectType).getFields())
        .filter((field) => {
          const { name } = getNamedType(field.type);
          const isConnection = name.endsWith('Connection');
          if (!isConnection && !NODE_TYPES.has(name)) return false;
          const selection = `${field.name} { ${isConnection ? 'totalCount' : '__typename'} }`;
          return !ELSEWHERE.has(field.name) && callsOf(type, selection) <= callsOf(type, 'id');
        })
        .map(({ name }) => name),
    );
    expect(uncounted).toEqual([]);
  });

  it('is computed anew for other variables of the same document', async () => {
    const authorization = `Bearer ${await tokenFor(['partner'])}`;
    const estimates = async (query: string, all: readonly object[]) => {
      const results: number[] = [];
      for (const variables of all) {
        const answer = await post(gateway.url, { query, variables }, { authorization });
        results.push(answer.extensions?.['upstream'].estimated);
      }
      return results;
    };
    const session = `session(id: "${ids.session(1, 0)}", clientId: "${ids.client(1)}")`;
    const notes = `query N($on: Boolean!) { ${session} { progressNote @include(if: $on) { isLoading } mdm { risk } } }`;
    expect(await estimates(notes, [{ on: false }, { on: true }, { on: false }])).toEqual([1, 2, 1]);
    const rows = `query R($n: Int!) { client(id: "${ids.client(1)}") { sessions(first: $n) { nodes { sessionId } } } }`;
    expect(await estimates(rows, [{ n: 30 }, { n: 10 }, { n: 30 }])).toEqual([3, 1, 3]);
    const note = `query S { ${session} { progressNote { isLoading } } }`;
    expect(await estimates(note, [{}, {}])).toEqual([1, 1]);
    const page = `query P($after: String) { organizations(first: 10, after: $after) { pageInfo { endCursor } nodes { name } } }`;
    const cursor = (await gateway.query(page)).data!['organizations'].pageInfo.endCursor;
    expect(await estimates(page, [{ after: null }, { after: cursor }, {}])).toEqual([1, 2, 1]);
    const nodes = `query N($ids: [ID!]!) { nodes(ids: $ids) { id } }`;
    const id = artifactId(gateway, 'ProgressNote', ids.session(1, 0), ids.client(1));
    expect(await estimates(nodes, [{ ids: [id] }, { ids: [id, id] }, { ids: id }])).toEqual([
      1, 2, 1,
    ]);
  });

  it('is computed anew for another viewer, where it depends on the number of grants', async () => {
    const query = '{ viewer { clients { sessions { totalCount } } } }';
    for (const count of [1, 3, 2]) {
      const grants = Array.from({ length: count }, (_, i) => `client:${ids.client(i)}`);
      const authorization = `Bearer ${await tokenFor(grants)}`;
      const answer = await post(gateway.url, { query }, { authorization });
      expect(answer.extensions?.['upstream'].estimated).toBe(count);
    }
  });

  it('over the limit is rejected before any call, with both figures', async () => {
    const before = callsTo(gateway);
    const headers = { authorization: `Bearer ${await tokenFor(['partner'])}` };
    const accept = 'application/graphql-response+json';
    const plain = await post(gateway.url, { query: CROSS }, headers);
    const strict = await post(gateway.url, { query: CROSS }, { ...headers, accept });
    expect([plain.status, strict.status, plain.data]).toEqual([200, 400, undefined]);
    const estimate = 1 + 10 * (1 + 10 * (1 + 10 * (1 + 10 * (1 + 10))));
    expect(strict.errors?.[0]?.extensions).toEqual({
      code: 'QUERY_TOO_EXPENSIVE',
      estimate,
      limit: 10_000,
      requestId: strict.headers.get('x-request-id'),
    });
    expect(callsTo(gateway)).toBe(before);
  });

  it.each([
    ['a note', () => `progressNote(id: "${ids.note(0, 0)}") { id }`, 1],
    [
      'a list’s length',
      () => `clinic(id: "${ids.clinic(0)}") { clients(first: 100) { totalCount } }`,
      1,
    ],
    [
      'the cursors at its ends',
      () => `clinic(id: "${ids.clinic(0)}") { clients(first: 100) { pageInfo { endCursor } } }`,
      2,
    ],
    ['its rows', () => `clinic(id: "${ids.clinic(0)}") { clients(first: 45) { nodes { id } } }`, 5],
    ['its tail', () => `clinic(id: "${ids.clinic(0)}") { clients(last: 10) { nodes { id } } }`, 3],
    ['a read of the event log', () => 'events(first: 100) { nodes { cursor } }', 1],
    [
      'the notes of ten events',
      () => 'events { nodes { ... on ProgressNoteEvent { progressNote { id } } } }',
      11,
    ],
    ['nothing of it', () => `clinic(id: "${ids.clinic(0)}") { clients { __typename } }`, 0],
    [
      'what is skipped',
      () => `clinic(id: "${ids.clinic(0)}") { id clients @include(if: false) { totalCount } }`,
      0,
    ],
    [
      'a field named twice',
      () => `partner { raw } ...Again } fragment Again on Query { partner { raw }`,
      1,
    ],
    [
      'a list under two names',
      () =>
        `clinic(id: "${ids.clinic(0)}") { a: clients { totalCount } b: clients { totalCount } }`,
      2,
    ],
    [
      'a record for each id',
      () => `nodes(ids: ["${'", "'.repeat(4)}"]) { ... on Session { progressNote { id } } }`,
      10,
    ],
    [
      'a node of any type',
      () =>
        `node(id: "x") { ... on Clinic { clients { totalCount } } ... on Client { sessions { totalCount } } }`,
      3,
    ],
    [
      'a list that each type filters by fields of its own',
      () =>
        `node(id: "x") { ... on Clinician { clients(filter: { firstName: "A" }) { totalCount } } ... on Clinic { clients(filter: { clinicianId: "x" }) { totalCount } } }`,
      3,
    ],
  ])('counts %s', async (_name, fields, estimated) => {
    const { extensions } = await counted(gateway, `{ ${fields()} }`);
    expect(extensions.upstream.estimated).toBe(estimated);
  });

  it('is computed at once, however often fragments multiply their fields', async () => {
    const names = Array.from({ length: 90 }, (_, n) => n);
    const fragments = names.map((n) => `fragment F${n} on Viewer { ...F${n + 1} ...F${n + 1} }`);
    const wide = `{ viewer { ...F0 } } ${fragments.join(' ')} fragment F90 on Viewer { organizations { totalCount } }`;
    expect((await counted(gateway, wide)).extensions.upstream.estimated).toBe(1);
    const steps = ['Clinic clients', 'ClientConnection nodes', 'Client clinic'].map((text) =>
      text.split(' '),
    );
    const nested = Array.from({ length: 9 }, (_, n) => {
      const [type, field] = steps[n % 3]!;
      return `fragment N${n} on ${type} { ${`${field} { ...N${n + 1} } `.repeat(12)} }`;
    });
    const deep = `{ clinic(id: "x") { ...N0 } } ${nested.join(' ')} fragment N9 on Clinic { id }`;
    expect((await counted(gateway, deep)).extensions.upstream.estimated).toBe(
      1 + 10 * (1 + 10 * 1),
    );
  });

  /** Sessions within sessions: each of these fragments spreads the next one four times. */
  const sessionsWithin = (levels: number, last: string) => {
    const fragments = Array.from({ length: levels }, (_, n) => {
      const next = n + 1 < levels ? `...F${n + 1}` : last;
      const names = ['progressNote', 'transcript', 'mdm', 'events'];
      return `fragment F${n} on Session { ${names.map((name) => `${name} { session { ${next} } }`).join(' ')} }`;
    });
    return `{ session(id: "${ids.session(0, 0)}") { ...F0 } } ${fragments.join(' ')}`;
  };

  let names = 0;
  it('is computed at once, on however many paths fragments lead to a field', async () => {
    const { errors } = await counted(gateway, sessionsWithin(10, 'sessionId'));
    let estimate = 0;
    for (let level = 0; level < 10; level += 1) estimate = 3 * (1 + estimate) + 1 + 25 * estimate;
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'QUERY_TOO_EXPENSIVE', estimate });
    const rejected = async (levels: number) => {
      // A new name each time, since the gateway caches the estimate of a document.
      const name = `Q${(names += 1)}`;
      expect(
        (await counted(gateway, `query ${name} ${sessionsWithin(levels, 'sessionId')}`)).data,
      ).toBeUndefined();
    };
    // Five levels more are a thousand times as many paths.
    expect(await fastestMs(() => rejected(10))).toBeLessThan(
      100 * (await fastestMs(() => rejected(5))),
    );
  });

  it('reports an invalid argument once, on the first path that leads to it', async () => {
    const last = 'fragment Last on Session { client { sessions(first: 0) { totalCount } } }';
    const { errors } = await counted(gateway, `${sessionsWithin(2, '...Last')} ${last}`);
    const path = ['progressNote', 'session', 'progressNote', 'session', 'client', 'sessions'];
    expect(errors).toMatchObject([{ path: ['session', ...path] }]);
  });

  it('is never less than the calls made, for any query', async () => {
    const starts = [
      ...[0, 1, 2, 3, 4].map((n) => ({ field: `clinic(id: "${ids.clinic(n)}")`, type: 'Clinic' })),
      ...[0, 1].map((n) => ({
        field: `organization(id: "${ids.organization(n)}")`,
        type: 'Organization',
      })),
      ...[0, 13, 30].map((n) => ({
        field: `clinician(id: "${ids.clinician(n)}")`,
        type: 'Clinician',
      })),
      ...[1, 25, 26, 27, 28, 29].map((n) => ({
        field: `client(id: "${ids.client(n)}")`,
        type: 'Client',
      })),
      ...[0, 1, 2].map((n) => ({ field: `session(id: "${ids.session(1, n)}")`, type: 'Session' })),
    ];
    const property = fc.asyncProperty(queryFrom(starts), async (document) => {
      const { errors, extensions } = await counted(gateway, document);
      expect(errors).toBeUndefined();
      const { estimated, calls, cached, coalesced } = extensions.upstream;
      expect(calls).toBeLessThanOrEqual(estimated);
      // What is cached or in flight would be a call of its own on a cold cache.
      expect(calls + cached + coalesced).toBeLessThanOrEqual(estimated);
    });
    await fc.assert(property, { numRuns: 30, seed: 3, endOnFailure: true });
  });
});

it.each(allChanges)('the worst case of %s includes the read before it', async (name) => {
  const id = artifactId(gateway, 'ProgressNote', ids.session(0, 0), ids.client(0));
  const { errors, extensions } = await change(gateway, name, id);
  expect(errors).toBeUndefined();
  const { estimated, calls } = extensions.upstream;
  expect([calls, estimated]).toEqual([3, 3]);
});

describe('the calls of an operation', () => {
  it('end at the limit: further fields fail, and the rest of the result stays', async () => {
    await using narrow = await openGateway({
      sandbox: gateway.sandbox,
      env: { OPERATION_MAX_UPSTREAM_CALLS: '6' },
    });
    const answer = await counted(
      narrow,
      `{ client(id: "${ids.client(0)}") { sessions(first: 10) { totalCount nodes { sessionId progressNote { id } } } } }`,
    );
    expect(answer.calls).toBe(6);
    const { nodes, totalCount } = answer.data.client.sessions;
    expect([nodes.length, totalCount]).toEqual([10, expect.any(Number)]);
    expect(
      nodes.filter(({ progressNote }: { progressNote: unknown }) => progressNote),
    ).toHaveLength(5);
    const path = ['client', 'sessions', 'nodes', expect.any(Number), 'progressNote'];
    expect(answer.errors).toEqual([
      {
        message: expect.stringMatching(/^At most 6 calls .*: ask for fewer rows\.$/),
        locations: expect.any(Array),
        path,
        extensions: {
          code: 'QUERY_TOO_EXPENSIVE',
          count: 5,
          path,
          estimate: 11,
          limit: 6,
          requestId: expect.any(String),
        },
      },
    ]);
  });

  it('allow a hundred clients with their latest note', async () => {
    const document = `{ clinic(id: "${ids.clinic(0)}") { clients(first: 100) { nodes {
      sessions(last: 1) { nodes { progressNote { progressNoteId } } } } } } }`;
    const { data, errors } = await gateway.query(document);
    expect(errors).toBeUndefined();
    expect(data.clinic.clients.nodes).toHaveLength(100);
  });

  it('limit a search: an error on the field, never a silent null', async () => {
    await using narrow = await openGateway({
      sandbox: gateway.sandbox,
      env: { OPERATION_MAX_UPSTREAM_CALLS: '10' },
    });
    const document = `query($id: ID!) { client(id: $id) { email } viewer { subject } }`;
    const answer = await counted(narrow, document, { id: ids.client(1_000) });
    expect(answer.calls).toBe(10);
    expect(answer.data).toEqual({ client: null, viewer: { subject: 'tester' } });
    expect(failures(answer)).toEqual(['client: QUERY_TOO_EXPENSIVE']);
    const cached = await counted(narrow, '{ organizations { totalCount } }');
    expect([cached.errors, cached.calls]).toEqual([undefined, 0]);
  });
});

describe('a response', () => {
  const codes = (answer: GraphQLAnswer) => answer.errors?.map(({ extensions }) => extensions.code);
  const times = (count: number, id: string) => ({ ids: Array<string>(count).fill(id) });

  it('has about 32 MB at most: further fields fail, and the rest of the result stays', async () => {
    const transcriptItems = [{ transcript: 'x'.repeat(2 ** 20) }];
    gateway.sandbox.answerNext('/sessions/{sessionId}/transcript', { body: { transcriptItems } });
    const asked = await gateway.query(
      `{ session(id: "${ids.session(2, 0)}") { transcript { id } } }`,
    );
    const answer = await gateway.query(
      `query($ids: [ID!]!) { viewer { subject } nodes(ids: $ids) { ... on Transcript { raw } } }`,
      times(40, asked.data.session.transcript.id),
    );
    expect(answer.data.viewer).toEqual({ subject: 'tester' });
    expect(answer.data.nodes.filter((node: unknown) => node)).toHaveLength(32);
    expect(codes(answer)).toEqual(['QUERY_TOO_EXPENSIVE']);
  });

  it('counts every copy of a transcript’s text', async () => {
    const transcriptItems = [{ transcript: 'x'.repeat(2 ** 20) }];
    gateway.sandbox.answerNext('/sessions/{sessionId}/transcript', { body: { transcriptItems } });
    const aliases = Array.from({ length: 40 }, (_, n) => `a${n}: transcript`);
    const answer = await gateway.query(
      `{ session(id: "${ids.session(2, 1)}") { transcript { items { ${aliases.join(' ')} } } } }`,
    );
    expect(answer.data).toEqual({ session: { transcript: null } });
    expect(failures(answer)).toEqual(['session.transcript.items: QUERY_TOO_EXPENSIVE']);
  });

  it('counts the copies of a transcript’s items, whichever fields of them are selected', async () => {
    const transcriptItems = Array.from({ length: 1_000 }, () => ({
      speaker: 'A',
      transcript: 'x'.repeat(1_000),
    }));
    gateway.sandbox.answerNext('/sessions/{sessionId}/transcript', { body: { transcriptItems } });
    const asked = await gateway.query(
      `{ session(id: "${ids.session(2, 2)}") { transcript { id } } }`,
    );
    const answer = await gateway.query(
      `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Transcript { items { speaker } } } }`,
      times(40, asked.data.session.transcript.id),
    );
    expect(answer.data.nodes.filter((node: unknown) => node).length).toBeLessThan(40);
    expect(codes(answer)).toEqual(['QUERY_TOO_EXPENSIVE']);
  });

  it.each([
    ['speaker', 1],
    ['__typename', 2],
  ])('counts every alias of %s in a transcript’s items', async (name, nth) => {
    const transcriptItems = Array.from({ length: 7_000 }, () => ({ speaker: 'A' }));
    gateway.sandbox.answerNext('/sessions/{sessionId}/transcript', { body: { transcriptItems } });
    const members = Array.from({ length: 290 }, (_, n) => `a${n}: ${name}`);
    const answer = await gateway.query(
      `{ session(id: "${ids.session(3, nth)}") { transcript { items { ${members.join(' ')} } } } }`,
    );
    expect(failures(answer)).toEqual(['session.transcript.items: QUERY_TOO_EXPENSIVE']);
  });

  it('counts every copy of a text in MDM elements, scores and lists', async () => {
    const text = 'x'.repeat(2 ** 20);
    const aliases = (name: string) =>
      Array.from({ length: 40 }, (_, n) => `a${n}: ${name}`).join(' ');
    const { sandbox } = gateway;
    sandbox.answerNext('/sessions/:sessionId/mdm', {
      body: { problemsAddressed: [{ rationale: text }] },
    });
    const mdm = await gateway.query(
      `{ session(id: "${ids.session(2, 3)}") { mdm { problemsAddressed { ${aliases('rationale')} } } } }`,
    );
    expect(failures(mdm)).toEqual(['session.mdm.problemsAddressed: QUERY_TOO_EXPENSIVE']);
    sandbox.answerNext('/assessment-scores/:id', { body: { answers: [{ answerDisplay: text }] } });
    const score = await gateway.query(
      `{ assessmentScore(id: "${randomUUID()}") { answers { ${aliases('answerDisplay')} } } }`,
    );
    expect(failures(score)).toEqual(['assessmentScore.answers: QUERY_TOO_EXPENSIVE']);
    const body = {
      data: [{ id: randomUUID(), externalId: text }],
      meta: { totalItems: 1, currentPage: 1 },
    };
    sandbox.answerNext('/clinicians/:clinicianId/clients', { body });
    const list = await gateway.query(
      `{ clinician(id: "${randomUUID()}") { clients { nodes { ${aliases('externalId')} } } } }`,
    );
    const { nodes } = list.data.clinician.clients;
    expect(Object.values(nodes[0]).filter((value) => value === text)).toHaveLength(32);
    expect(new Set(codes(list))).toEqual(new Set(['QUERY_TOO_EXPENSIVE']));
  });

  it('has about 33,000 rows and links upward at most', async () => {
    const asked = await gateway.query(`{ clinic(id: "${ids.clinic(0)}") { id } }`);
    const answer = await gateway.query(
      `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Clinic { clients(first: 100) { nodes {
        clientId a: clinic { clinicId } b: clinic { clinicId } c: clinic { clinicId } } } } } }`,
      times(100, asked.data.clinic.id),
    );
    const found = JSON.stringify(answer.data).match(/"(?:clientId|clinicId)"/g);
    expect(found).toHaveLength(33_554);
    expect(new Set(codes(answer))).toEqual(new Set(['QUERY_TOO_EXPENSIVE']));
  });

  it('has about 33,000 rows at most, however often the same ones are selected', async () => {
    const asked = await gateway.query(`{ clinic(id: "${ids.clinic(0)}") { id } }`);
    const answer = await gateway.query(
      `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Clinic { clients(first: 100) {
        a: nodes { clientId } b: nodes { clientId } edges { c: node { clientId } d: node { clientId } } } } } }`,
      times(100, asked.data.clinic.id),
    );
    const { length } = answer.data.nodes.filter((node: { clients: unknown }) => node.clients);
    expect(length).toBe(83);
    // In the page that was begun, and in those after it.
    expect(codes(answer)).toEqual(['QUERY_TOO_EXPENSIVE', 'QUERY_TOO_EXPENSIVE']);
  });

  it('has about 67,000 cursors and ids at most, which take time to sign', async () => {
    const asked = await gateway.query(`{ clinic(id: "${ids.clinic(0)}") { id } }`);
    const answer = await gateway.query(
      `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Clinic { clients(first: 100) { edges {
        a: cursor b: cursor c: cursor d: cursor node { e: id f: id } } } } } }`,
      times(100, asked.data.clinic.id),
    );
    const { length } = answer.data.nodes.filter((node: { clients: unknown }) => node.clients);
    expect(length).toBe(83);
    // In the page that was begun, and in those after it.
    expect(codes(answer)).toEqual(['QUERY_TOO_EXPENSIVE', 'QUERY_TOO_EXPENSIVE']);
  });

  it('has one error for each position that is cut, however many rows fail there', async () => {
    const asked = await gateway.query(`{ clinic(id: "${ids.clinic(0)}") { id } }`);
    const aliases = Array.from({ length: 20 }, (_, n) => `a${n}: clinic { organization { id } }`);
    const { errors } = await gateway.query(
      `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Clinic { clients(first: 100) { nodes { ${aliases.join(' ')} } } } } }`,
      times(20, asked.data.clinic.id),
    );
    const positions = errors?.map(({ path }) => path?.filter((key) => typeof key === 'string'));
    // The list's rows, each clinic and each organization.
    expect(positions).toHaveLength(1 + 20 + 20);
    expect(new Set(positions?.map(String)).size).toBe(41);
  });
});
