import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/observability/log.ts';
import { openServer } from '../../src/server.ts';
import { createAdvancingClock } from '../support/access/viewers.ts';
import { type Gateway, TEST_SECRET, openGateway, post } from '../support/gateway.ts';
import { dial, initWith } from '../support/ws/raw-socket.ts';

const inAnHour = () => Math.floor(Date.now() / 1_000) + 3_600;
const claims = () => ({ sub: 'anna', exp: inAnHour(), grants: ['partner'] });
const QUERY = { query: '{ viewer { subject } organizations { totalCount } }' };

function signed(more: object = {}, secret = TEST_SECRET): Promise<string> {
  const payload = Object.fromEntries(
    Object.entries({ ...claims(), ...more }).filter(([, value]) => value !== undefined),
  );
  return new SignJWT(payload).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(secret));
}

const good = (more: object = {}) => signed({ iss: 'issuer', aud: 'gateway', ...more });

describe('with a secret', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await openGateway({ env: { AUTH_ISSUER: 'issuer', AUTH_AUDIENCE: 'gateway' } });
  });
  afterAll(() => gateway.close());
  const ask = (authorization: string | undefined, body: unknown = QUERY) =>
    post(gateway.url, body, authorization === undefined ? {} : { authorization });

  it('accepts a valid token', async () => {
    const { status, data } = await ask(`Bearer ${await good()}`);
    expect([status, data.viewer.subject]).toEqual([200, 'anna']);
  });

  const bad: [string, () => Promise<string | undefined> | string | undefined][] = [
    ['none', () => undefined],
    ['an empty one', () => 'Bearer '],
    ['another scheme', async () => `Basic ${await good()}`],
    ['garbage', () => 'Bearer a.b.c'],
    ['alg none', () => `Bearer ${new UnsecuredJWT(claims()).encode()}`],
    ['another secret', async () => `Bearer ${await signed({}, `${TEST_SECRET}!`)}`],
    ['another issuer', async () => `Bearer ${await good({ iss: 'other' })}`],
    ['another audience', async () => `Bearer ${await good({ aud: 'other' })}`],
    ['no audience', async () => `Bearer ${await good({ aud: undefined })}`],
    ['no exp', async () => `Bearer ${await good({ exp: undefined })}`],
    ['an exp that is a string', async () => `Bearer ${await good({ exp: String(inAnHour()) })}`],
    ['an exp that is over', async () => `Bearer ${await good({ exp: inAnHour() - 3_601 })}`],
    ['an nbf to come', async () => `Bearer ${await good({ nbf: inAnHour() })}`],
    ['no grants', async () => `Bearer ${await good({ grants: undefined })}`],
    ['no subject', async () => `Bearer ${await good({ sub: undefined })}`],
  ];
  it.each(bad)('answers 401 before anything is read or fetched: %s', async (_, authorization) => {
    gateway.sandbox.resetCounts();
    // An invalid body shows that it was never read.
    for (const body of [QUERY, 'no json at all']) {
      const { status, errors, data } = await ask(await authorization(), body);
      expect([status, data, errors?.[0]?.extensions.code]).toEqual([
        401,
        undefined,
        'UNAUTHENTICATED',
      ]);
      expect(errors?.[0]?.message).toMatch(/^(A|The) bearer token (is|has) [a-z, ]+\.$/);
    }
    expect(gateway.sandbox.countOf()).toBe(0);
  });

  it('ignores a token in the query string', async () => {
    const path = `${gateway.url}/graphql?authorization=${await good()}&token=${await good()}`;
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(QUERY) });
    expect(response.status).toBe(401);
  });
});

async function openIssuer() {
  const keys: JWK[] = [];
  const state = { fetches: 0, down: false };
  const server = createServer((_, response) => {
    state.fetches += 1;
    response.writeHead(state.down ? 500 : 200, { connection: 'close' });
    response.end(JSON.stringify({ keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const addKey = async (kid: string) => {
    const pair = await generateKeyPair('RS256', { extractable: true });
    keys.push({ ...(await exportJWK(pair.publicKey)), kid, alg: 'RS256' });
    const token = (subject: string) =>
      new SignJWT({ ...claims(), sub: subject, aud: 'gateway' })
        .setProtectedHeader({ alg: 'RS256', kid })
        .sign(pair.privateKey);
    return { token };
  };
  const { port } = server.address() as AddressInfo;
  const clock = createAdvancingClock();
  const gateway = await openGateway({
    clock,
    env: {
      AUTH_JWKS_URL: `http://127.0.0.1:${port}/keys`,
      AUTH_JWT_SECRET: '',
      AUTH_AUDIENCE: 'gateway',
    },
  });
  const { url } = gateway;
  const ask = (token: string) => post(url, QUERY, { authorization: `Bearer ${token}` });
  const statusOf = async (token: string) => (await ask(token)).status;
  const close = async () => {
    await gateway.close();
    server.close();
  };
  return { url, state, keys, clock, addKey, ask, statusOf, [Symbol.asyncDispose]: close };
}

describe('with a JWKS URL', () => {
  it('fetches the keys once, and verifies further tokens without a fetch, even when the issuer is down', async () => {
    await using issuer = await openIssuer();
    const key = await issuer.addKey('one');
    const [anna, ben] = await Promise.all([key.token('anna'), key.token('ben')]);
    expect(await Promise.all([issuer.statusOf(anna), issuer.statusOf(ben)])).toEqual([200, 200]);
    issuer.state.down = true;
    expect(await issuer.statusOf(await key.token('carl'))).toBe(200);
    expect(issuer.state.fetches).toBe(1);
  });

  it('finds a rotated key with one fetch in 30 seconds, and uses its cached keys during an outage', async () => {
    await using issuer = await openIssuer();
    const old = await issuer.addKey('one');
    expect(await issuer.statusOf(await old.token('anna'))).toBe(200);
    issuer.keys.pop();
    const { token } = await issuer.addKey('two');
    issuer.clock.advance(31_000);
    const subjects = ['ben', 'carl', 'dora'];
    const tokens = await Promise.all(subjects.map(token));
    expect(await Promise.all(tokens.map(issuer.statusOf))).toEqual([200, 200, 200]);
    expect(issuer.state.fetches).toBe(2);
    expect(await issuer.statusOf(await old.token('eve'))).toBe(401);
    issuer.state.down = true;
    issuer.clock.advance(1_800_000);
    expect(await issuer.statusOf(await token('finn'))).toBe(200);
  });

  it('answers 503 and closes sockets with 1013 while it has no keys; a wrong algorithm is 401', async () => {
    await using issuer = await openIssuer();
    const token = await (await issuer.addKey('one')).token('anna');
    issuer.state.down = true;
    const { status, headers, errors } = await issuer.ask(token);
    expect([status, headers.get('retry-after'), headers.get('www-authenticate')]).toEqual([
      503,
      '5',
      null,
    ]);
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
    using socket = dial(issuer);
    await once(socket.ws, 'open');
    socket.send(initWith(token));
    expect(await socket.closed).toEqual({ code: 1013, reason: 'Try again later' });
    for (const wrong of ['a.b.c', await good()]) expect(await issuer.statusOf(wrong)).toBe(401);
    issuer.state.down = false;
    issuer.clock.advance(1_000);
    expect(await issuer.statusOf(token)).toBe(200);
  });
});

it('warns at start that every caller is a partner viewer if no AUTH_* is set', async () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const dir = mkdtempSync(join(tmpdir(), 'partner-graph-open-'));
  using _ = { [Symbol.dispose]: () => rmSync(dir, { recursive: true }) };
  const config = readConfig({ PORT: '0', EVENT_STORE_DIR: dir, SANDBOX_PULSE_MS: '0' });
  await using server = await openServer(config, log);
  expect(new URL(server.url).hostname).toBe('127.0.0.1');
  expect(lines.join('')).toContain('no AUTH_* is set: everyone is a partner viewer');
  const { data } = await post(server.url, { query: '{ viewer { subject grants } }' });
  expect(data.viewer).toEqual({ subject: 'sandbox', grants: ['partner'] });
});
