import { randomUUID } from 'node:crypto';
import { once } from 'node:events';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, post, tokenFor } from '../../support/gateway.ts';
import { createManualClock } from '../../support/access/viewers.ts';
import { bytesOf, delivery, macOf } from '../../support/events/deliveries.ts';
import { dial, dialIn, initWith, subscribe, until } from '../../support/ws/raw-socket.ts';

type Line = Readonly<Record<string, unknown>>;
let lines: Line[] = [];
let gateway: Gateway;
let authorization: string;
beforeAll(async () => {
  gateway = await openGateway({
    clock: createManualClock(),
    onLog: (line) => lines.push(JSON.parse(line) as Line),
  });
  authorization = `Bearer ${await tokenFor(['partner'])}`;
});
afterAll(() => gateway.close());
beforeEach(() => {
  lines = [];
});

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NOTE = 'query Note($id: ID!) { session(id: $id) { progressNote { note } } }';
const EDIT = `mutation Edit($id: ID!) {
  updateProgressNote(input: { progressNoteId: $id, patch: {} }) { __typename } }`;

/** Level, or outcome, and id of each line. */
const logged = () =>
  lines.map(({ msg, outcome, code, requestId }) => [msg, outcome ?? code, requestId]);

const send = (body: unknown, headers: Record<string, string> = {}) =>
  post(gateway.url, body, { authorization, ...headers });

describe('the id of a request', () => {
  it.each([
    randomUUID(),
    randomUUID().toUpperCase(),
    'req-42',
    `web:${randomUUID()}`,
    '1-67891233-abcdef012345678912345678',
    '4bf92f3577b34da6a3ce929d0e0e4736',
    '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    '0a1b2c31-2c10-4f01-9a07-09ab12cd34ef',
  ])('is the client’s: %s', async (id) => {
    const { headers } = await send({ query: '{ __typename }' }, { 'x-request-id': id });
    expect(headers.get('x-request-id')).toBe(id);
    expect(logged()).toEqual([['operation', 'ok', id]]);
  });

  it.each([
    '',
    'key-of-the-api-77a1',
    'Anna-Example',
    '1931-07-09',
    '9.7.1931',
    'born:07_09_1931',
    'anna@clinic.example',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln',
    'sk_live_4eC39HqLyjWDarjtT1zdp7dc',
    'aaaaaaaa'.repeat(6),
    'req 42',
    '42"}',
  ])('is generated where the client’s could be a name or a secret: %j', async (id) => {
    const { headers } = await send({ query: '{ __typename }' }, { 'x-request-id': id });
    const made = headers.get('x-request-id');
    expect(made).toMatch(UUID);
    expect(logged()).toEqual([['operation', 'ok', made]]);
  });

  it('is on every response, pages and HTTP errors included', async () => {
    for (const path of ['/healthz', '/nowhere', '/metrics', '/']) {
      const response = await fetch(`${gateway.url}${path}`, { headers: { 'x-request-id': 'a-1' } });
      expect([path, response.headers.get('x-request-id')]).toEqual([path, 'a-1']);
    }
    const { errors } = await (await fetch(`${gateway.url}/nowhere`)).json();
    expect(errors[0].extensions.requestId).toMatch(UUID);
  });
});

describe('every log line of a request', () => {
  it('has its id: a read, one answered from the cache, and a mutation', async () => {
    const { ids } = gateway.sandbox;
    const read = { query: NOTE, variables: { id: ids.session(0, 3) } };
    for (const id of ['r-1', 'r-2', 'r-3']) {
      const { headers } = await send(read, { 'x-request-id': id });
      expect(headers.get('x-request-id')).toBe(id);
    }
    const change = { query: EDIT, variables: { id: ids.note(0, 3) } };
    await send(change, { 'x-request-id': 'c-4' });
    expect(logged()).toEqual([
      ['audit', 'read', 'r-1'],
      ['operation', 'ok', 'r-1'],
      ['audit', 'read', 'r-2'],
      ['operation', 'ok', 'r-2'],
      ['audit', expect.stringMatching(/^read( again)?$/), 'r-3'],
      ['operation', 'ok', 'r-3'],
      ['audit', 'updateProgressNote: asked for', 'c-4'],
      ['audit', 'updateProgressNote: locked', 'c-4'],
      ['operation', 'ok', 'c-4'],
    ]);
  });
});

describe('an operation that is rejected', () => {
  const deep = (levels: number) => `{ a${'{ a'.repeat(levels)}${' }'.repeat(levels)} }`;
  const json = { accept: 'application/graphql-response+json' };

  it.each([
    ['an invalid document', { query: '{ nothing }' }, {}, 'BAD_USER_INPUT', 200],
    ['the same, by status', { query: '{ nothing }' }, json, 'BAD_USER_INPUT', 400],
    ['a syntax error', { query: '{' }, {}, 'BAD_USER_INPUT', 200],
    ['too many levels', { query: deep(60) }, {}, 'BAD_USER_INPUT', 200],
    ['wrong variables', { query: NOTE, variables: {} }, {}, 'BAD_USER_INPUT', 200],
    ['no JSON', '{', {}, 'BAD_USER_INPUT', 400],
    ['no token', { query: '{ __typename }' }, { authorization: '' }, 'UNAUTHENTICATED', 401],
    ['another type', '{}', { 'content-type': 'text/plain' }, 'BAD_USER_INPUT', 415],
    ['too large', 'a'.repeat(300_000), {}, 'BAD_USER_INPUT', 413],
  ] as const)(
    'is logged in one line with code and id, and the response has the id: %s',
    async (what, body, more, code, status) => {
      const answer = await send(body, { 'x-request-id': 'x-9', ...more });
      expect(answer.status).toBe(status);
      expect(answer.headers.get('x-request-id')).toBe('x-9');
      for (const { extensions } of answer.errors ?? [])
        expect(extensions).toMatchObject({ code, requestId: 'x-9' });
      expect(answer.errors).toBeDefined();
      expect(lines).toEqual([
        {
          level: 'info',
          time: expect.any(String),
          msg: 'operation rejected',
          code,
          status,
          requestId: 'x-9',
          ...(status === 401 && { reason: 'missing' }),
          ...(what === 'wrong variables' && { name: 'Note' }),
        },
      ]);
    },
  );

  it('for its cost is logged as well, with its name', async () => {
    const query = `query Everything { organizations { nodes { clinics { nodes { clinicians { nodes { clients { nodes {
      sessions { nodes { transcript { items { transcript } } } } } } } } } } } } }`;
    const { errors } = await send({ query }, { 'x-request-id': 'x-10' });
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'QUERY_TOO_EXPENSIVE',
      requestId: 'x-10',
    });
    expect(logged()).toEqual([['operation rejected', 'QUERY_TOO_EXPENSIVE', 'x-10']]);
    expect(lines).toMatchObject([{ name: 'Everything' }]);
  });

  it('is logged without a name that is longer than names are', async () => {
    await send({ query: `query ${'a'.repeat(65)} { nothing }` });
    expect(lines).toMatchObject([{ name: '[withheld]' }]);
  });
});

it('has the request id in the errors of fields', async () => {
  const query = '{ session(id: "7b0e4c52-1f4d-4a39-9d3c-0a5f6b1c2d3e") { sessionExternalId } }';
  const { errors } = await send({ query }, { 'x-request-id': 'f-1' });
  expect(errors?.map(({ extensions }) => extensions.requestId)).toEqual(['f-1']);
});

describe('over WebSocket', () => {
  it('each operation has its own id, in its log lines and its errors', async () => {
    using socket = await dialIn(gateway);
    const id = gateway.sandbox.ids.session(1, 3);
    socket.send(subscribe('1', NOTE, { id }));
    await socket.next();
    await socket.next();
    socket.send(subscribe('2', 'query Wrong { nothing }'));
    const { payload } = await socket.next();
    await until(() => lines.length === 3);
    const [audit, operation, rejected] = lines;
    expect(audit).toMatchObject({ msg: 'audit', requestId: expect.stringMatching(UUID) });
    expect(operation).toMatchObject({ msg: 'operation', requestId: audit!['requestId'] });
    expect(rejected).toMatchObject({
      msg: 'operation rejected',
      code: 'BAD_USER_INPUT',
      name: 'Wrong',
    });
    expect(rejected!['requestId']).not.toBe(audit!['requestId']);
    expect(payload[0].extensions.requestId).toBe(rejected!['requestId']);
  });

  it('a field’s error and a rejected subscription have it', async () => {
    using socket = await dialIn(gateway);
    const unknown = randomUUID();
    socket.send(subscribe('1', `{ session(id: "${unknown}") { sessionExternalId } }`));
    const { payload } = await socket.next();
    expect(payload.errors[0].extensions.requestId).toMatch(UUID);
    socket.send(subscribe('2', 'subscription { events(after: "x") { cursor } }'));
    await until(() => socket.untaken.some(({ id }) => id === '2'));
    const error = socket.untaken.find(({ id }) => id === '2');
    const requestId = error?.payload[0].extensions.requestId;
    expect(requestId).toMatch(UUID);
    expect(lines.at(-1)).toMatchObject({ msg: 'operation rejected', requestId });
  });

  it.each([
    ['the client’s', 'ws-7'],
    ['a new one', 'Anna-Example'],
  ])('a rejected token is logged with the id of the upgrade: %s', async (_, id) => {
    using socket = dial(gateway, { headers: { 'x-request-id': id } });
    socket.ws.on('open', () => socket.send(initWith('x')));
    const [[upgrade]] = await Promise.all([once(socket.ws, 'upgrade'), socket.closed]);
    const echoed = upgrade.headers['x-request-id'];
    expect(echoed).toMatch(id === 'ws-7' ? /^ws-7$/ : UUID);
    expect(logged()).toEqual([['operation rejected', 'UNAUTHENTICATED', echoed]]);
    expect(lines[0]).toMatchObject({ reason: 'ERR_JWS_INVALID' });
  });

  it('a rejected origin is logged with the id of the upgrade', async () => {
    const headers = { 'x-request-id': 'ws-8' };
    using socket = dial(gateway, { origin: 'https://other.example', headers });
    const [, response] = await once(socket.ws, 'unexpected-response');
    expect(response.headers['x-request-id']).toBe('ws-8');
    expect(lines).toMatchObject([{ origin: 'https://other.example', requestId: 'ws-8' }]);
  });
});

it('is in the lines about a webhook', async () => {
  const body = bytesOf(delivery('transcript_ready', {}, { eventType: 'a_new_type', timeStamp: 7 }));
  const signature = macOf(body, gateway.sandbox.connection.clientSecret);
  await fetch(`${gateway.url}/webhooks`, {
    method: 'POST',
    headers: { 'x-signature': signature, 'x-request-id': 'hook-1' },
    body: new Uint8Array(body),
  });
  expect(lines).toMatchObject([
    { msg: 'signed webhooks were not understood and are in quarantine', requestId: 'hook-1' },
  ]);
});
