import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';
import {
  type RawSocket,
  dialIn,
  gauge,
  subscribe,
  subscribed,
  until,
} from '../../support/ws/raw-socket.ts';

const EVENTS = 'subscription { events { cursor type } }';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway({ env: { LIMIT_SOCKETS_PER_VIEWER: '1000' } });
});
afterAll(() => gateway.close());

/** Resolves once everything sent before has been handled. */
async function settled(socket: RawSocket): Promise<void> {
  socket.send({ type: 'ping' });
  expect(await socket.next()).toEqual({ type: 'pong' });
}

describe('an operation that is rejected', () => {
  it.each([
    ['a syntax error', 'subscription {', 'Syntax Error'],
    ['an unknown field', 'subscription { nope }', 'Cannot query field'],
    ['an unknown cursor', 'subscription { events(after: "x") { cursor } }', 'cursor'],
    ['no document', '', '"query"'],
  ])('gets an error on its id for %s, and the others continue', async (_what, query, message) => {
    using socket = await dialIn(gateway);
    await subscribed(gateway, socket, 'good', EVENTS);
    socket.send(subscribe('bad', query));
    const answer = await socket.next();
    expect(answer).toMatchObject({ id: 'bad', type: 'error' });
    expect(answer.payload[0].message).toContain(message);
    expect(answer.payload[0].extensions.code).toBe('BAD_USER_INPUT');
    gateway.sandbox.completeAssessments(gateway.sandbox.ids.client(0));
    expect(await socket.next()).toMatchObject({ id: 'good', type: 'next' });
  });

  it('can be sent again under the same id', async () => {
    using socket = await dialIn(gateway);
    socket.send(subscribe('1', 'subscription {'));
    expect(await socket.next()).toMatchObject({ id: '1', type: 'error' });
    await subscribed(gateway, socket, '1', EVENTS);
    gateway.sandbox.completeAssessments(gateway.sandbox.ids.client(0));
    expect(await socket.next()).toMatchObject({ id: '1', type: 'next' });
  });
});

describe('an invalid message', () => {
  it.each([
    ['an unknown type', { type: 'start', id: '1' }],
    ['no JSON', 'hello'],
    ['a binary frame', Buffer.from('{"type":"ping"}')],
    ['a payload that is a string', { id: '1', type: 'subscribe', payload: 'x' }],
    ['a payload that is null', { id: '1', type: 'subscribe', payload: null }],
    ['no id', { type: 'subscribe', payload: { query: EVENTS } }],
    ['a list of variables', { id: '1', type: 'subscribe', payload: { query: '', variables: [] } }],
    ['a number', '5'],
  ])('closes the socket with 4400: %s', async (_what, message) => {
    using socket = await dialIn(gateway);
    socket.send(message);
    expect(await socket.closed).toEqual({ code: 4400, reason: 'Invalid message' });
  });

  it('closes the socket with 4409 for an id in use, and does not echo the id', async () => {
    using socket = await dialIn(gateway);
    await subscribed(gateway, socket, 'mine', EVENTS);
    socket.send(subscribe('mine', EVENTS));
    expect(await socket.closed).toEqual({ code: 4409, reason: 'Subscriber already exists' });
  });
});

describe('completing', () => {
  it('ends the operation and frees its id', async () => {
    using socket = await dialIn(gateway);
    await subscribed(gateway, socket, '1', EVENTS);
    socket.send({ id: '1', type: 'complete' });
    await settled(socket);
    expect(await gauge(gateway, 'gateway_subscriptions')).toBe(0);
    await subscribed(gateway, socket, '1', EVENTS);
  });

  it.each(['complete', 'close'])('aborts the calls of a running query (%s)', async (type) => {
    using socket = await dialIn(gateway);
    const { sandbox } = gateway;
    sandbox.answerNext('/sessions/:id/transcript', { hang: true });
    const id = sandbox.ids.session(type === 'close' ? 1 : 0, 0);
    socket.send(subscribe('1', `{ session(id: "${id}") { transcript { id } } }`));
    await until(async () => (await gauge(gateway, 'partner_calls_in_flight')) === 1);
    if (type === 'close') socket.ws.close();
    else socket.send({ id: '1', type });
    await until(async () => (await gauge(gateway, 'partner_calls_in_flight')) === 0);
    if (type === 'close') return;
    socket.send(subscribe('1', '{ viewer { subject } }'));
    expect(await socket.next()).toMatchObject({ id: '1', type: 'next' });
  });

  it('leaves one operation of many that are started and completed at once', async () => {
    using socket = await dialIn(gateway);
    for (let i = 0; i < 10; i += 1) {
      socket.send(subscribe('1', EVENTS));
      if (i < 9) socket.send({ id: '1', type: 'complete' });
    }
    // One round trip for all to arrive, and another for those that were completed to end.
    await settled(socket);
    await settled(socket);
    await until(async () => (await gauge(gateway, 'gateway_subscriptions')) === 1);
    gateway.sandbox.completeAssessments(gateway.sandbox.ids.client(0));
    expect(await socket.next()).toMatchObject({ id: '1', type: 'next' });
    await settled(socket);
    socket.ws.close();
    await until(async () => (await gauge(gateway, 'gateway_subscriptions')) === 0);
  });
});

/** A pong message of this many bytes. */
const pongOf = (bytes: number) => `{"type":"pong"${' '.repeat(bytes - 15)}}`;

describe('a socket', () => {
  it('may run 50 operations, and gets an error on the id of the 51st', async () => {
    using socket = await dialIn(gateway);
    for (let i = 1; i <= 51; i += 1) socket.send(subscribe(String(i), EVENTS));
    expect(await socket.next()).toMatchObject({ id: '51', type: 'error' });
    socket.send({ id: '50', type: 'complete' });
    socket.send(subscribe('51', EVENTS));
    await settled(socket);
    expect(await gauge(gateway, 'gateway_subscriptions')).toBe(50);
  });

  it('may hold two million characters of documents and variables with its other sockets, until some are completed', async () => {
    await using usual = await openGateway();
    const types = Array.from({ length: 2_200 }, () => 'PROGRESS_NOTE_FINALIZED');
    const document =
      'subscription($types: [PartnerEventType!]) { events(filter: { types: $types }) { cursor } }';
    using first = await dialIn(usual);
    using second = await dialIn(usual);
    for (let i = 1; i <= 35; i += 1) first.send(subscribe(String(i), document, { types }));
    await settled(first);
    second.send(subscribe('1', document, { types }));
    expect(await second.next()).toMatchObject({ id: '1', type: 'error' });
    for (let i = 1; i <= 10; i += 1) first.send({ id: String(i), type: 'complete' });
    await settled(first);
    second.send(subscribe('1', document, { types }));
    await settled(second);
    expect(second.untaken).toEqual([]);
  });

  it('may send frames of 64 KiB, and is closed with 1009 for larger ones', async () => {
    using socket = await dialIn(gateway);
    socket.send(pongOf(65_536));
    await settled(socket);
    socket.send(pongOf(65_537));
    expect((await socket.closed).code).toBe(1009);
  });

  it('may run an operation with an id of 128 characters, and is closed with 4400 for a longer one', async () => {
    using socket = await dialIn(gateway);
    const id = 'x'.repeat(128);
    socket.send(subscribe(id, '{ __typename }'));
    expect(await socket.next()).toMatchObject({ id, type: 'next' });
    expect(await socket.next()).toEqual({ id, type: 'complete' });
    socket.send(subscribe(`${id}x`, '{ __typename }'));
    expect(await socket.closed).toEqual({ code: 4400, reason: 'Invalid message' });
    expect(socket.untaken).toEqual([]);
  });

  it('gets the payload of its ping back, up to 128 bytes, and is closed with 4400 for more', async () => {
    using socket = await dialIn(gateway);
    const payload = { nonce: 'x'.repeat(116) };
    expect(JSON.stringify(payload)).toHaveLength(128);
    socket.send({ type: 'ping', payload });
    expect(await socket.next()).toEqual({ type: 'pong', payload });
    socket.send({ type: 'ping', payload: { nonce: 'x'.repeat(117) } });
    expect((await socket.closed).code).toBe(4400);
    expect(socket.untaken).toEqual([]);
  });

  it('may send 120 messages in ten seconds, and is closed with 1013 for more', async () => {
    using socket = await dialIn(gateway);
    for (let i = 2; i <= 120; i += 1) socket.send({ type: 'ping' });
    for (let i = 2; i <= 120; i += 1) expect(await socket.next()).toEqual({ type: 'pong' });
    socket.send({ type: 'ping' });
    expect((await socket.closed).code).toBe(1013);
  });

  it.each([
    ['pings of the protocol below', (socket: RawSocket) => socket.ws.ping()],
    ['pongs of the protocol below', (socket: RawSocket) => socket.ws.pong()],
    [
      'operations that are begun and completed',
      (socket: RawSocket) => {
        socket.send(subscribe('1', EVENTS));
        socket.send({ id: '1', type: 'complete' });
      },
    ],
  ])(
    'is closed with 1013 for a flood of %s, and the gateway keeps serving',
    async (_what, send) => {
      using socket = await dialIn(gateway);
      for (let i = 0; i < 5_000; i += 1) send(socket);
      expect((await socket.closed).code).toBe(1013);
      expect(await gauge(gateway, 'gateway_subscriptions')).toBe(0);
    },
  );
});

describe('the number of sockets of a viewer', () => {
  it('is at most 20: the 21st is closed with 1013 until another is closed, and other viewers are not affected', async () => {
    await using usual = await openGateway();
    const token = await tokenFor(['partner'], { subject: 'many-tabs' });
    const sockets = await Promise.all(Array.from({ length: 20 }, () => dialIn(usual, token)));
    await expect(dialIn(usual, token)).rejects.toThrow('1013');
    sockets.push(await dialIn(usual, await tokenFor(['partner'], { subject: 'another' })));
    sockets[0]?.ws.close();
    await sockets[0]?.closed;
    sockets.push(await dialIn(usual, token));
    for (const socket of sockets) socket[Symbol.dispose]();
  });
});
