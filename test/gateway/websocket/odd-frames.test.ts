import { deflateRawSync } from 'node:zlib';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';
import { closeCodeOf, frameOf } from '../../support/ws/frames.ts';
import { dialIn, gauge, initWith, subscribe, until } from '../../support/ws/raw-socket.ts';

let gateway: Gateway;
let token: string;
const lines: string[] = [];
beforeAll(async () => {
  gateway = await openGateway({
    env: { LIMIT_SOCKETS_PER_VIEWER: '1000' },
    onLog: (line) => lines.push(line),
  });
  token = await tokenFor(['partner']);
});
/** No test leaves a socket open or causes an unexpected error. */
afterEach(async () => {
  await until(async () => (await gauge(gateway, 'gateway_sockets')) === 0);
  await until(async () => (await gauge(gateway, 'gateway_subscriptions')) === 0);
  expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  lines.length = 0;
});
afterAll(() => gateway.close());

const EVENTS = 'subscription { events { cursor } }';
const HELLO = '{"type":"ping"}';
const more = { isLast: false } as const;

describe('invalid frames', () => {
  it.each<[string, number, () => Buffer[]]>([
    ['a continuation of no message', 1002, () => [frameOf(HELLO, { opcode: 0 })]],
    ['one that is not masked', 1002, () => [frameOf(HELLO, { isMasked: false })]],
    ['one that is compressed', 1002, () => [frameOf(deflateRawSync(HELLO), { reserved: 4 })]],
    ['a ping in parts', 1002, () => [frameOf('x', { opcode: 9, ...more })]],
    ['a ping of 126 bytes', 1002, () => [frameOf('x'.repeat(126), { opcode: 9 })]],
    ['text that is not UTF-8', 1007, () => [frameOf(Buffer.from([0x7b, 0xff, 0x7d]))]],
    ['a length over the limit', 1009, () => [Buffer.from('81ff7fffffffffffffff00000000', 'hex')]],
    [
      'fragments without an end',
      1009,
      () => [
        frameOf('{', more),
        ...Array(20).fill(frameOf('x'.repeat(4_000), { opcode: 0, ...more })),
      ],
    ],
    ['an array', 4400, () => [frameOf(`[${HELLO}]`)]],
    ['nothing', 4400, () => [frameOf('')]],
    ['a byte order mark', 4400, () => [frameOf(`\ufeff${HELLO}`)]],
    ['30,000 levels', 4400, () => [frameOf('['.repeat(30_000) + ']'.repeat(30_000))]],
    [
      'a ping with 30,000 levels',
      4400,
      () => [frameOf(`{"type":"ping","payload":{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`)],
    ],
    ['a type that is an array', 4400, () => [frameOf('{"type":["ping"]}')]],
    ['the type __proto__', 4400, () => [frameOf('{"type":"__proto__"}')]],
  ])('close the socket: %s', async (_, code, frames) => {
    expect(await closeCodeOf(gateway.url, frames())).toBe(code);
  });

  it('include more than 64 fragments of one message', async () => {
    const parts = (count: number) => [
      frameOf(HELLO.slice(0, 1), more),
      ...Array<Buffer>(count - 2).fill(frameOf('', { opcode: 0, ...more })),
      frameOf(HELLO.slice(1), { opcode: 0 }),
    ];
    expect(await closeCodeOf(gateway.url, [...parts(64), frameOf('end')])).toBe(4400);
    expect(await closeCodeOf(gateway.url, parts(65))).toBe(1008);
  });

  it('do not include a fragmented message with a ping between its fragments', async () => {
    const [half, rest] = [HELLO.slice(0, 5), HELLO.slice(5)];
    const frames = [frameOf(half, more), frameOf('x', { opcode: 9 }), frameOf(rest, { opcode: 0 })];
    expect(await closeCodeOf(gateway.url, [...frames, frameOf('end')])).toBe(4400);
  });
});

describe('an invalid upgrade', () => {
  it.each([
    [400, 'Sec-WebSocket-Protocol: graphql-transport-ws, graphql-transport-ws\r\n'],
    [400, 'Sec-WebSocket-Protocol: ,;\r\n'],
    [4406, 'Sec-WebSocket-Protocol: graphql-ws\r\n'],
    [4406, 'X-Other: no protocol\r\n'],
  ])('gets %d: %s', async (status, headers) => {
    expect(await closeCodeOf(gateway.url, [], headers)).toBe(status);
  });
});

const AUTHORIZED = () => `Bearer ${token}`;

describe('an invalid first message', () => {
  it.each<[string, number, () => unknown]>([
    ['a payload of null', 4403, () => null],
    ['a payload that is text', 4400, () => AUTHORIZED()],
    ['a payload that is a list', 4400, () => [AUTHORIZED()]],
    ['a token in headers', 4403, () => ({ headers: { authorization: AUTHORIZED() } })],
    ['a token without its scheme', 4403, () => ({ authorization: token })],
    ['a token under an upper-case key', 4403, () => ({ AUTHORIZATION: AUTHORIZED() })],
    ['60 kB', 4403, () => ({ authorization: 'x'.repeat(60_000) })],
  ])('closes the socket: %s', async (_, code, payload) => {
    const message = JSON.stringify({ type: 'connection_init', payload: payload() });
    expect(await closeCodeOf(gateway.url, [frameOf(message)])).toBe(code);
  });

  it('has its token under __proto__, which is ignored', async () => {
    const message = `{"type":"connection_init","payload":{"__proto__":{"authorization":"${AUTHORIZED()}"}}}`;
    expect(await closeCodeOf(gateway.url, [frameOf(message)])).toBe(4403);
  });
});

describe('an operation', () => {
  it.each([1, null, '', { a: 1 }, ['1']])('may not have the id %j', async (id) => {
    using socket = await dialIn(gateway, token);
    socket.send({ id, type: 'subscribe', payload: { query: EVENTS } });
    expect((await socket.closed).code).toBe(4400);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', '\ud800', 'a\r\nb\u2028'])(
    'may have the id %j, and is completed by it',
    async (id) => {
      using socket = await dialIn(gateway, token);
      const running = await gauge(gateway, 'gateway_subscriptions');
      socket.send(subscribe(id, EVENTS));
      await until(async () => (await gauge(gateway, 'gateway_subscriptions')) === running + 1);
      socket.send({ id, type: 'complete' });
      await until(async () => (await gauge(gateway, 'gateway_subscriptions')) === running);
      expect(socket.ws.readyState).toBe(socket.ws.OPEN);
    },
  );

  it('that does not exist may be completed', async () => {
    using socket = await dialIn(gateway, token);
    for (const id of ['unused', '__proto__', 'toString']) socket.send({ id, type: 'complete' });
    socket.send({ type: 'ping' });
    expect(await socket.next()).toEqual({ type: 'pong' });
  });

  it.each(['next', 'error', 'connection_ack'])(
    'closes the socket for a message of the server’s (%s)',
    async (type) => {
      using socket = await dialIn(gateway, token);
      socket.send({ id: '1', type, payload: type === 'error' ? [] : {} });
      expect((await socket.closed).code).toBe(4400);
    },
  );

  it('closes the socket with 4401 if it is sent before the first message is acknowledged', async () => {
    const messages = [initWith(token), subscribe('1', EVENTS)];
    const frames = messages.map((message) => frameOf(JSON.stringify(message)));
    expect(await closeCodeOf(gateway.url, frames)).toBe(4401);
  });
});
