import { once } from 'node:events';
import { connect } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';
import { type DialOptions, dial, dialIn, initWith } from '../../support/ws/raw-socket.ts';

let gateway: Gateway;
const lines: string[] = [];
beforeAll(async () => {
  gateway = await openGateway({
    env: { ALLOWED_ORIGINS: 'https://app.example', AUTH_AUDIENCE: 'us' },
    onLog: (line) => lines.push(line),
  });
});
afterAll(() => gateway.close());

/** The status of an upgrade: 101 if it is accepted. */
async function upgradeStatus(options: DialOptions): Promise<number> {
  using socket = dial(gateway, options);
  return await new Promise((resolve) => {
    socket.ws.on('unexpected-response', (_req, res) => resolve(res.statusCode ?? 0));
    socket.ws.on('open', () => resolve(101));
  });
}

/** Sends a raw request, and returns the first line of the response. */
async function firstLineTo(request: string): Promise<string> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.write(request);
  const [data] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return data.toString().split('\r\n')[0] ?? '';
}

const ours = (options: Parameters<typeof tokenFor>[1] = {}) =>
  tokenFor(['partner'], { audience: 'us', ...options });

const MISSING = 'A bearer token is required, but none was sent.';
const INVALID = 'The bearer token is not valid.';
const EXPIRED = 'The bearer token has expired.';

describe('the upgrade', () => {
  it('is rejected for pages of other origins', async () => {
    for (const origin of [
      'https://evil.example',
      `${gateway.url}.evil.example`,
      'http://127.0.0.1@evil.example',
      'http://127.0.0.1:1',
      'file://',
      'null',
    ])
      expect([origin, await upgradeStatus({ origin })]).toEqual([origin, 403]);
  });

  it('is accepted from this origin, from listed ones, and without an origin', async () => {
    expect(await upgradeStatus({ origin: gateway.url })).toBe(101);
    expect(await upgradeStatus({ origin: 'https://app.example' })).toBe(101);
    expect(await upgradeStatus({})).toBe(101);
  });

  it('ignores a token in the URL, and never logs it', async () => {
    const token = await ours();
    expect(await upgradeStatus({ path: `/graphql?token=${token}` })).toBe(400);
    expect(await upgradeStatus({ path: '/graphql?access_token' })).toBe(400);
    expect(lines.join('')).not.toContain(token);
  });

  it('is accepted on one path only', async () => {
    expect(await upgradeStatus({ path: '/' })).toBe(404);
    expect(await upgradeStatus({ path: '/graphql/' })).toBe(404);
  });

  it('is rejected with more headers than Node keeps', async () => {
    const many = 'a: b\r\n'.repeat(2_001);
    const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\n';
    expect(await firstLineTo(`GET /graphql HTTP/1.1\r\nhost: x\r\n${upgrade}${many}\r\n`)).toBe(
      'HTTP/1.1 431 Request Header Fields Too Large',
    );
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  });

  it('chooses graphql-transport-ws among the protocols that are offered', async () => {
    using socket = dial(gateway, { protocols: ['graphql-ws', 'graphql-transport-ws'] });
    await once(socket.ws, 'open');
    expect(socket.ws.protocol).toBe('graphql-transport-ws');
  });

  it('ignores requests that offer another protocol', async () => {
    const offer = 'connection: upgrade, http2-settings\r\nupgrade: h2c\r\n';
    const request = `GET /healthz HTTP/1.1\r\nhost: x\r\n${offer}http2-settings: AAMAAABk\r\n\r\n`;
    expect(await firstLineTo(request)).toBe('HTTP/1.1 200 OK');
  });
});

describe('the first message', () => {
  it('has to arrive in time', async () => {
    await using shortLimit = await openGateway({ limits: { socketInitMs: 150 } });
    using socket = dial(shortLimit);
    expect((await socket.closed).code).toBe(4408);
  });

  it('is not awaited from a client that does not answer the close', async () => {
    await using shortLimit = await openGateway({ limits: { socketInitMs: 150 } });
    const { hostname, port } = new URL(shortLimit.url);
    const socket = connect(Number(port), hostname).resume();
    const key =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==';
    socket.write(`GET /graphql HTTP/1.1\r\nHost: a\r\n${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`);
    const began = performance.now();
    await once(socket, 'close');
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it('is acknowledged with a valid token, under either key', async () => {
    using socket = await dialIn(gateway, await ours());
    expect(socket.ws.readyState).toBe(socket.ws.OPEN);
    using other = dial(gateway);
    await once(other.ws, 'open');
    other.send({
      type: 'connection_init',
      payload: { Authorization: `Bearer ${await ours()}` },
    });
    expect(await other.next()).toEqual({ type: 'connection_ack' });
  });

  it.each([
    ['no payload', MISSING, () => ({ type: 'connection_init' })],
    ['garbage', INVALID, () => initWith('a.b.c')],
    ['no string', MISSING, () => ({ type: 'connection_init', payload: { authorization: 5 } })],
    ['an expired token', EXPIRED, async () => initWith(await ours({ expiresInSeconds: -1 }))],
    ['another audience', INVALID, async () => initWith(await ours({ audience: 'them' }))],
  ])('closes the socket with 4403 for %s, with the reason: %s', async (_what, reason, make) => {
    using socket = dial(gateway);
    await once(socket.ws, 'open');
    socket.send(await make());
    expect(await socket.closed).toEqual({ code: 4403, reason });
  });

  it('must contain the token: a cookie is ignored', async () => {
    using socket = dial(gateway, { headers: { cookie: `token=${await ours()}` } });
    await once(socket.ws, 'open');
    socket.send({ type: 'connection_init' });
    expect((await socket.closed).code).toBe(4403);
  });

  it('is rejected the second time', async () => {
    using socket = await dialIn(gateway, await ours());
    socket.send(initWith(await ours()));
    expect((await socket.closed).code).toBe(4429);
  });
});
