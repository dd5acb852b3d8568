import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, post, tokenFor } from '../support/gateway.ts';
import { callsTo, counted, failures } from '../support/graph/counted.ts';

let gateway: Gateway;
let ids: Gateway['sandbox']['ids'];
beforeAll(async () => {
  gateway = await openGateway();
  ({ ids } = gateway.sandbox);
});
afterAll(() => gateway.close());

// oxlint-disable-next-line typescript/no-explicit-any -- answers are asserted on, not computed with
type Json = any;

const CLIENTS = `query($id: ID!, $first: Int, $after: String, $last: Int, $before: String, $filter: ClinicClientFilter) {
  clinic(id: $id) { clients(first: $first, after: $after, last: $last, before: $before, filter: $filter) {
    totalCount edges { cursor node { clientId } } nodes { clientId }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`;
const SESSIONS = `query($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
  client(id: $id) { sessions(first: $first, after: $after, last: $last, before: $before) {
    totalCount edges { cursor node { sessionId } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`;

async function window(args: object) {
  const { data, calls, errors } = await counted(gateway, CLIENTS, { id: ids.clinic(0), ...args });
  expect(errors).toBeUndefined();
  const { clients } = data.clinic;
  return { ...clients, calls, ids: clients.edges.map(({ node }: Json) => node.clientId) };
}
const clients = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => ids.client(from + n));

describe('a window', () => {
  it('has ten rows from the start by default', async () => {
    const head = await window({});
    expect(head.ids).toEqual(clients(0, 10));
    expect(head.nodes.map(({ clientId }: Json) => clientId)).toEqual(head.ids);
    expect(head).toMatchObject({
      totalCount: 420,
      pageInfo: {
        hasNextPage: true,
        hasPreviousPage: false,
        startCursor: head.edges[0].cursor,
        endCursor: head.edges[9].cursor,
      },
    });
  });

  it.each([
    [25, 0],
    [26, 9],
    [27, 10],
    [28, 11],
    [29, 25],
  ])('reads client %i’s list of %i in both directions, each page once', async (client, length) => {
    const forwards = await walk(client, 'first');
    const backwards = await walk(client, 'last');
    const whole = Array.from({ length }, (_, n) => ids.session(client, n));
    expect(forwards).toEqual({ ids: whole, calls: Math.max(1, Math.ceil(length / 10)) });
    expect(backwards).toEqual({ ids: whole, calls: 0 });
  });
});

async function walk(client: number, way: 'first' | 'last') {
  const seen: string[] = [];
  let calls = 0;
  for (let cursor: string | undefined; ;) {
    const args = way === 'first' ? { first: 4, after: cursor } : { last: 4, before: cursor };
    const answer = await counted(gateway, SESSIONS, { id: ids.client(client), ...args });
    const { edges, pageInfo } = answer.data.client.sessions;
    calls += answer.calls;
    const rows = edges.map(({ node }: Json) => node.sessionId);
    if (way === 'first') seen.push(...rows);
    else seen.unshift(...rows);
    if (!(way === 'first' ? pageInfo.hasNextPage : pageInfo.hasPreviousPage))
      return { ids: seen, calls };
    cursor = way === 'first' ? pageInfo.endCursor : pageInfo.startCursor;
  }
}

const G16 = ['-1', '0', '101', '2147483648', '1e9', '"1"', '99999999', '1.5', 'true', '[1]'];

const head = (argument: string) =>
  `{ clinic(id: "${ids.clinic(1)}") { name clients(${argument}) { totalCount } } }`;

describe('an invalid window', () => {
  it.each(G16.flatMap((value) => [`first: ${value}`, `last: ${value}`]))(
    'is rejected before any call: %s',
    async (argument) => {
      const before = callsTo(gateway);
      const headers = { authorization: `Bearer ${await tokenFor(['partner'])}` };
      const plain = await post(gateway.url, { query: head(argument) }, headers);
      const accept = 'application/graphql-response+json';
      const strict = await post(gateway.url, { query: head(argument) }, { ...headers, accept });
      expect([plain.status, strict.status]).toEqual([200, 400]);
      for (const { errors, data } of [plain, strict]) {
        expect([errors?.[0]?.extensions.code, data]).toEqual(['BAD_USER_INPUT', undefined]);
      }
      expect(callsTo(gateway)).toBe(before);
    },
  );

  it('is rejected in the same way when the number is a variable', async () => {
    for (const first of [-1, 0, 101, 2 ** 31, '1', 1.5]) {
      const answer = await counted(gateway, CLIENTS, { id: ids.clinic(1), first });
      expect([answer.errors?.[0]?.extensions.code, answer.data, answer.calls]).toEqual([
        'BAD_USER_INPUT',
        undefined,
        0,
      ]);
    }
  });

  it('has first and last together, and is rejected with every problem at once', async () => {
    const answer = await counted(gateway, head('first: 0, last: 101'));
    expect(answer.errors?.[0]?.extensions.issues).toEqual([
      '"first" must be between 1 and 100, but got 0',
      '"last" must be between 1 and 100, but got 101',
      '"first" and "last" exclude each other, but got both',
    ]);
  });

  it('is ignored if its field is skipped', async () => {
    const document = `{ clinic(id: "${ids.clinic(1)}") { id clients(first: 0) @skip(if: true) { totalCount } } }`;
    expect((await counted(gateway, document)).errors).toBeUndefined();
  });
});

const refused = async (after: unknown, args: object = {}) => {
  const answer = await counted(gateway, CLIENTS, { id: ids.clinic(0), after, ...args });
  expect([failures(answer), answer.calls]).toEqual([['clinic.clients: BAD_USER_INPUT'], 0]);
};

describe('a cursor', () => {
  it('is valid for its own list only, filter included', async () => {
    const { pageInfo } = await window({ first: 1 });
    const cursor = pageInfo.endCursor;
    await refused(cursor, { id: ids.clinic(1) });
    await refused(cursor, { filter: { status: 'ACTIVE' } });
    expect((await window({ after: cursor, first: 1, filter: {} })).ids).toEqual(clients(1, 2));
  });

  it('is rejected with a single character changed, removed or added', async () => {
    const { pageInfo } = await window({ first: 1 });
    const cursor: string = pageInfo.endCursor;
    for (const at of [0, 3, 20, cursor.length - 1]) {
      const other = cursor[at] === 'A' ? 'B' : 'A';
      await refused(cursor.slice(0, at) + other + cursor.slice(at + 1));
    }
    for (const text of [
      '',
      'x',
      cursor.slice(1),
      `${cursor}=`,
      `${cursor}AA`,
      ' '.repeat(5_000),
      'YXJyYXljb25uZWN0aW9uOjA=',
    ]) {
      await refused(text);
    }
  });
});
