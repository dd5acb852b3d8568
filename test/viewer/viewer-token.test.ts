import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { systemClock } from '../../src/clock.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/observability/log.ts';
import { openServer } from '../../src/server.ts';
import { createAdvancingClock } from '../support/access/viewers.ts';
import { openIssuer } from '../support/faults/issuer.ts';
import { type Gateway, TEST_SECRET, openGateway, post, tokenFor } from '../support/gateway.ts';
import { dial, initWith } from '../support/ws/raw-socket.ts';

const inAnHour = () => Math.floor(Date.now() / 1_000) + 3_600;
const claims = () => ({ sub: 'anna', exp: inAnHour(), grants: ['partner'] });
const QUERY = { query: '{ viewer { subject } organizations { totalCount } }' };

async function signed(more: object = {}, secret = TEST_SECRET, alg = 'HS256'): Promise<string> {
  const payload = Object.fromEntries(
    Object.entries({ ...claims(), ...more }).filter(([, value]) => value !== undefined),
  );
  return `Bearer ${await new SignJWT(payload).setProtectedHeader({ alg }).sign(Buffer.from(secret))}`;
}

const good = (more: object = {}) => signed({ iss: 'issuer', aud: ['x', 'gateway'], ...more });
const unsigned = () => `Bearer ${new UnsecuredJWT(claims()).encode()}`;

const MISSING = 'A bearer token is required, but none was sent.';
const INVALID = 'The bearer token is not valid.';
const EXPIRED = 'The bearer token has expired.';

describe('with a secret', () => {
  let gateway: Gateway;
  const reasons: unknown[] = [];
  beforeAll(async () => {
    gateway = await openGateway({
      env: { AUTH_ISSUER: 'issuer', AUTH_AUDIENCE: 'gateway' },
      onLog: (line) => reasons.push(JSON.parse(line).reason),
    });
  });
  afterAll(() => gateway.close());
  const ask = (authorization: string | undefined, body: unknown = QUERY) =>
    post(gateway.url, body, authorization === undefined ? {} : { authorization });

  it('accepts a valid token', async () => {
    const { status, data } = await ask(await good());
    expect([status, data.viewer.subject]).toEqual([200, 'anna']);
  });

  const past = () => ({ exp: inAnHour() - 3_601 });
  const bad: [string, string, string, () => Promise<string> | string | undefined][] = [
    ['none', MISSING, 'missing', () => undefined],
    ['a blank', MISSING, 'missing', () => ' '],
    ['an empty one', INVALID, 'ERR_JWS_INVALID', () => 'Bearer '],
    [
      'another scheme',
      INVALID,
      'ERR_JWS_INVALID',
      async () => (await good()).replace('Bearer', 'Basic'),
    ],
    ['no scheme', INVALID, 'ERR_JWS_INVALID', async () => (await good()).replace('Bearer ', '')],
    ['garbage', INVALID, 'ERR_JWS_INVALID', () => 'Bearer a.b.c'],
    ['12 kB', INVALID, 'ERR_JWS_INVALID', () => `Bearer ${'a'.repeat(12_000)}.b.c`],
    ['one part more', INVALID, 'ERR_JWS_INVALID', async () => `${await good()}.x`],
    ['alg none', INVALID, 'ERR_JWS_INVALID', unsigned],
    ['alg none with a signature', INVALID, 'ERR_JOSE_ALG_NOT_ALLOWED', () => `${unsigned()}x`],
    [
      'another algorithm',
      INVALID,
      'ERR_JOSE_ALG_NOT_ALLOWED',
      () => signed({}, TEST_SECRET.repeat(2), 'HS512'),
    ],
    [
      'another secret',
      INVALID,
      'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
      () => signed({}, `${TEST_SECRET}!`),
    ],
    // Without a valid signature its expiry is not reported.
    [
      'another secret, and an exp that is over',
      INVALID,
      'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
      () => signed(past(), 'x'.repeat(40)),
    ],
    ['another issuer', INVALID, 'iss: check_failed', () => good({ iss: 'other' })],
    ['no issuer', INVALID, 'iss: missing', () => good({ iss: undefined })],
    ['another audience', INVALID, 'aud: check_failed', () => good({ aud: 'other' })],
    ['no audience', INVALID, 'aud: missing', () => good({ aud: undefined })],
    ['no exp', INVALID, 'exp: missing', () => good({ exp: undefined })],
    ['an exp that is text', INVALID, 'exp: invalid', () => good({ exp: String(inAnHour()) })],
    ['an exp that is over', EXPIRED, 'expired', () => good(past())],
    ['an exp of an hour ago', EXPIRED, 'expired', () => good({ exp: inAnHour() - 7_200 })],
    ['an nbf to come', INVALID, 'nbf: check_failed', () => good({ nbf: inAnHour() - 3_592 })],
    ['no sub', INVALID, 'sub: missing', () => good({ sub: undefined })],
    ['an empty sub', INVALID, 'sub: empty or too long', () => good({ sub: ' ' })],
    ['a long sub', INVALID, 'sub: empty or too long', () => good({ sub: 'x'.repeat(257) })],
    ['no grants', INVALID, 'grants: missing', () => good({ grants: undefined })],
    ['grants that are text', INVALID, 'grants: not an array', () => good({ grants: 'partner' })],
    ['an object of grants', INVALID, 'grants: not an array', () => good({ grants: { a: 1 } })],
  ];
  it.each(bad)('answers 401 before anything is read: %s', async (_, message, reason, make) => {
    gateway.sandbox.resetCounts();
    reasons.length = 0;
    // An invalid body shows that it was never read.
    for (const body of [QUERY, 'no json at all']) {
      const { status, errors, data } = await ask(await make(), body);
      expect([status, data]).toEqual([401, undefined]);
      expect(errors).toMatchObject([{ message, extensions: { code: 'UNAUTHENTICATED' } }]);
    }
    expect(reasons).toEqual([reason, reason]);
    expect(gateway.sandbox.countOf()).toBe(0);
  });

  it('ignores a token in the query string', async () => {
    const token = (await good()).replace('Bearer ', '');
    const path = `${gateway.url}/graphql?authorization=${token}&token=${token}`;
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(QUERY) });
    expect(response.status).toBe(401);
  });
});

it.each(['application/json', 'text/event-stream'])(
  'masks an unexpected failure of the authentication (%s)',
  async (accept) => {
    let isBroken = false;
    const wallNow = (): number => {
      if (isBroken) throw new RangeError('a detail');
      return Date.now();
    };
    const lines: string[] = [];
    const onLog = (line: string) => void lines.push(line);
    await using gateway = await openGateway({ clock: { ...systemClock, wallNow }, onLog });
    const ask = () =>
      fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: { accept, authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ query: '{ viewer { subject } }' }),
      });
    const authorization = await signed();
    expect((await ask()).status).toBe(200);
    isBroken = true;
    const response = await ask();
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({
      errors: [
        {
          message: 'Unexpected error.',
          extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: expect.any(String) },
        },
      ],
    });
    const logged = lines.filter((line) => line.includes('unexpected error'));
    expect(logged).toEqual([expect.stringContaining('"error":"RangeError"')]);
    expect(logged.join()).not.toContain('a detail');
  },
);

/** A gateway that accepts the tokens of an issuer. */
async function openWithIssuer() {
  const issuer = await openIssuer();
  const clock = createAdvancingClock();
  const gateway = await openGateway({ clock, env: issuer.env });
  const ask = (token: string) => post(gateway.url, QUERY, { authorization: `Bearer ${token}` });
  return {
    ...issuer,
    url: gateway.url,
    clock,
    ask,
    statusOf: async (token: string) => (await ask(token)).status,
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await issuer[Symbol.asyncDispose]();
    },
  };
}

describe('with a JWKS URL', () => {
  it('answers 503 and closes sockets with 1013 while it has no keys; a wrong algorithm is 401', async () => {
    await using issuer = await openWithIssuer();
    const token = await issuer.token('anna');
    issuer.setDown(true);
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
    for (const wrong of ['a.b.c', await tokenFor(['partner'], { audience: 'gateway' })])
      expect(await issuer.statusOf(wrong)).toBe(401);
    issuer.setDown(false);
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
  expect(lines.join('')).toContain(
    'neither AUTH_JWT_SECRET nor AUTH_JWKS_URL is set: every caller is a partner viewer',
  );
  for (const headers of [{}, { authorization: 'Bearer nonsense' }]) {
    const { data } = await post(server.url, { query: '{ viewer { subject grants } }' }, headers);
    expect(data.viewer).toEqual({ subject: 'sandbox', grants: ['partner'] });
  }
});
