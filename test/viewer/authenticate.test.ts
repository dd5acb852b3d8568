import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT, type JWK } from 'jose';
import { afterEach, describe, expect, it } from 'vitest';
import { createAuthenticator, Unauthenticated } from '../../src/viewer/authenticate.ts';

const SECRET = 'a secret of more than thirty-two bytes';
const CLINIC = '7b0e4c52-1f4d-4a39-9d3c-0a5f6b1c2d3e';
const NOW = 1_800_000_000_000;
const IN_AN_HOUR = NOW / 1_000 + 3_600;
const CLAIMS = { sub: 'anna', exp: IN_AN_HOUR, grants: [`clinic:${CLINIC}`] };

const cleanup: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0)) await close();
});

type Claims = Record<string, unknown>;

function sign(claims: Claims, secret = SECRET, alg = 'HS256'): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg }).sign(Buffer.from(secret));
}

function withSecret(now = () => NOW, issuer?: string, audience?: string) {
  const auth = { kind: 'secret', secret: SECRET, issuer, audience } as const;
  const authenticate = createAuthenticator(auth, { now, wallNow: now });
  return { bearer: (token: string) => authenticate(`Bearer ${token}`), authenticate };
}

describe('with a secret', () => {
  it.each(['bearer', 'BEARER', 'Bearer '])('accepts the scheme %j', async (scheme) => {
    const { authenticate } = withSecret();
    expect((await authenticate(`${scheme} ${await sign(CLAIMS)}`)).subject).toBe('anna');
  });

  it('caches a token for a minute, and never past its expiry', async () => {
    let now = NOW;
    const { bearer } = withSecret(() => now);
    const token = await sign({ ...CLAIMS, exp: NOW / 1_000 + 90 });
    const first = await bearer(token);
    now = NOW + 59_999;
    expect(await bearer(token)).toBe(first);
    now = NOW + 60_001;
    expect(await bearer(token)).not.toBe(first);
    now = NOW + 90_000;
    await expect(bearer(token)).rejects.toThrow(Unauthenticated);
  });

  it('verifies a token once for concurrent requests', async () => {
    const { bearer } = withSecret();
    const token = await sign(CLAIMS);
    const viewers = await Promise.all(Array.from({ length: 50 }, () => bearer(token)));
    expect(new Set(viewers).size).toBe(1);
  });
});

async function openIssuer() {
  const keys: JWK[] = [];
  const state = {
    fetches: 0,
    down: false,
    respond: undefined as string | undefined,
    location: '',
    compresses: false,
  };
  const fetching = { gate: Promise.resolve(), begun: () => {} };
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    state.fetches += 1;
    fetching.begun();
    await fetching.gate;
    if (state.location !== '' && request.url !== state.location)
      return response.writeHead(302, { location: state.location, connection: 'close' }).end();
    const encoding = state.compresses ? { 'content-encoding': 'gzip' } : {};
    response.writeHead(state.down ? 500 : 200, { connection: 'close', ...encoding });
    const text = state.respond ?? JSON.stringify({ keys });
    return response.end(state.compresses ? gzipSync(text) : text);
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanup.push(() => new Promise((resolve) => server.close(() => resolve())));

  const addKey = async (kid: string, alg = 'ES256') => {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    keys.push({ ...(await exportJWK(publicKey)), kid, alg });
    const token = (claims: Claims = CLAIMS) =>
      new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(privateKey);
    return { token, publicKey };
  };
  const clock = { now: NOW, aheadMs: 0 };
  const failures: string[] = [];
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const url = `http://127.0.0.1:${port}/keys`;
  const authenticate = createAuthenticator(
    { kind: 'jwks', url, issuer: undefined, audience: undefined },
    { now: () => clock.now, wallNow: () => clock.now + clock.aheadMs },
    (reason) => failures.push(reason),
  );
  const bearer = (token: string) => authenticate(`Bearer ${token}`);
  return { keys, state, fetching, clock, addKey, bearer, failures, server };
}

/** A frontend must not take it for a token that is not valid, and sign its user out. */
const NO_KEYS = {
  code: 'UPSTREAM_UNAVAILABLE',
  message: 'The issuer’s keys can’t be fetched for now. Try again in a moment.',
};

describe('with a JWKS URL', () => {
  it.each(['RS256', 'PS256', 'ES256', 'EdDSA'])('accepts %s', async (alg) => {
    const { addKey, bearer } = await openIssuer();
    const { token } = await addKey('one', alg);
    expect((await bearer(await token())).subject).toBe('anna');
  });

  it('finds a rotated key, with at most one fetch in 30 seconds, and rejects the withdrawn one', async () => {
    const { addKey, bearer, state, clock, keys } = await openIssuer();
    const { token } = await addKey('one');
    await bearer(await token());
    keys.pop();
    const { token: rotated } = await addKey('two');
    clock.now += 29_999;
    await expect(bearer(await rotated())).rejects.toThrow(Unauthenticated);
    expect(state.fetches).toBe(1);
    clock.now += 1;
    expect((await bearer(await rotated())).subject).toBe('anna');
    expect(state.fetches).toBe(2);
    await expect(bearer(await token({ ...CLAIMS, sub: 'eve' }))).rejects.toThrow(Unauthenticated);
  });

  it('accepts a token of any of several keys that match it, and of no other', async () => {
    const { addKey, bearer, keys } = await openIssuer();
    const published = [await addKey('one'), await addKey('one')];
    const { token: unpublished } = await addKey('one');
    keys.pop();
    for (const { token } of published) expect((await bearer(await token())).subject).toBe('anna');
    const expired = await published[1]!.token({ ...CLAIMS, exp: NOW / 1_000 });
    await expect(bearer(expired)).rejects.toMatchObject({ reason: 'expired' });
    await expect(bearer(await unpublished())).rejects.toThrow(Unauthenticated);
  });

  it('tries the other keys that match if one of them is too weak', async () => {
    const { addKey, bearer, keys } = await openIssuer();
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 });
    keys.push({ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256' });
    const { token } = await addKey('one', 'RS256');
    expect((await bearer(await token())).subject).toBe('anna');
  });

  it.each([-86_400_000, 86_400_000])(
    'uses a monotonic clock for its keys, and not one that jumps by %d',
    async (jumpMs) => {
      const { addKey, bearer, state, clock } = await openIssuer();
      const { token } = await addKey('one');
      const longLived = (sub: string) => token({ ...CLAIMS, sub, exp: IN_AN_HOUR + 172_800 });
      await bearer(await longLived('a'));
      clock.aheadMs = jumpMs;
      await bearer(await longLived('b'));
      expect(state.fetches).toBe(1);
      const { token: rotated } = await addKey('two');
      clock.now += 30_000;
      const claims = { ...CLAIMS, exp: IN_AN_HOUR + 172_800 };
      expect((await bearer(await rotated(claims))).subject).toBe('anna');
    },
  );

  it('accepts a token that waits for its key, however many others are cached meanwhile', async () => {
    const { addKey, bearer, clock, fetching } = await openIssuer();
    const known = await (await addKey('one')).token();
    await bearer(known);
    const rotated = await (await addKey('two')).token();
    clock.now += 30_000;
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    Object.assign(fetching, { gate: gate.promise, begun: begun.resolve });
    const waiting = bearer(rotated);
    await begun.promise;
    // The cache takes 8,000,000 characters.
    for (const spaces of [3_000_001, 3_000_002, 3_000_003])
      await bearer(' '.repeat(spaces) + known);
    gate.resolve();
    expect((await waiting).subject).toBe('anna');
  });

  it('fetches once for a flood of unknown key ids', async () => {
    const { addKey, bearer, state, clock, keys } = await openIssuer();
    const { token } = await addKey('one');
    await bearer(await token());
    const unpublished = await Promise.all(['../../x', 'three', 'four'].map((kid) => addKey(kid)));
    keys.splice(1);
    clock.now += 30_000;
    await Promise.all(
      unpublished.map(async (key) =>
        expect(bearer(await key.token())).rejects.toThrow(Unauthenticated),
      ),
    );
    await expect(bearer(await unpublished[0]!.token())).rejects.toThrow(Unauthenticated);
    expect(state.fetches).toBe(2);
  });

  it('fetches its keys again after ten minutes, not before, and then rejects a withdrawn one', async () => {
    const { addKey, bearer, state, clock, keys } = await openIssuer();
    const { token } = await addKey('one');
    let count = 0;
    const next = async () => bearer(await token({ ...CLAIMS, sub: `viewer-${(count += 1)}` }));
    await next();
    keys.pop();
    clock.now += 599_999;
    await next();
    expect(state.fetches).toBe(1);
    clock.now += 1;
    // The keys are fetched beside the first of these, which is still accepted.
    await expect.poll(() => next().catch(({ code }) => code)).toBe('UNAUTHENTICATED');
  });

  it.each([12, 59])('rejects a withdrawn key after %i quiet minutes', async (minutes) => {
    const { addKey, bearer, clock, keys } = await openIssuer();
    const { token } = await addKey('one');
    await bearer(await token());
    keys.pop();
    clock.now += minutes * 60_000;
    const late = await token({ ...CLAIMS, sub: 'another', exp: IN_AN_HOUR * 2 });
    await expect(bearer(late)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('uses its cached keys during an outage, for an hour', async () => {
    const { addKey, bearer, state, clock, failures } = await openIssuer();
    const { token } = await addKey('one');
    const longLived = (sub: string) => token({ ...CLAIMS, sub, exp: IN_AN_HOUR * 2 });
    await bearer(await longLived('a'));
    state.down = true;
    clock.now = NOW + 3_599_999;
    expect((await bearer(await longLived('b'))).subject).toBe('b');
    clock.now = NOW + 3_600_000;
    await expect(bearer(await longLived('c'))).rejects.toMatchObject(NO_KEYS);
    expect(new Set(failures)).toEqual(
      new Set(['Expected 200 OK from the JSON Web Key Set HTTP response']),
    );
    state.down = false;
    clock.now += 30_000;
    expect((await bearer(await longLived('c'))).subject).toBe('c');
  });

  it('reports why its keys can not be fetched, if the issuer does not answer', async () => {
    const { addKey, bearer, failures, server } = await openIssuer();
    const { token } = await addKey('one');
    await new Promise((resolve) => server.close(resolve));
    await expect(bearer(await token())).rejects.toMatchObject(NO_KEYS);
    expect(failures).toEqual(['ECONNREFUSED']);
  });

  it.each(['not json', '{}', '[]', '{"keys":5}'])(
    'accepts no token with invalid keys: %.12s',
    async (answer) => {
      const { addKey, bearer, state } = await openIssuer();
      const { token } = await addKey('one');
      state.respond = answer;
      await expect(bearer(await token())).rejects.toMatchObject(NO_KEYS);
    },
  );

  it.each([false, true])('reads at most 256 KiB of keys (compressed: %s)', async (compresses) => {
    for (const [bytes, subject] of [
      [260_000, 'anna'],
      [263_000, undefined],
    ] as const) {
      const { addKey, bearer, state, keys, failures } = await openIssuer();
      const { token } = await addKey('one');
      Object.assign(state, { compresses, respond: JSON.stringify({ keys }).padEnd(bytes) });
      const viewer = await bearer(await token()).catch(() => undefined);
      expect(viewer?.subject).toBe(subject);
      expect(failures).toEqual(subject ? [] : ['the response has more than 262144 characters']);
    }
  });

  it('follows no redirect to other keys', async () => {
    const { addKey, bearer, state } = await openIssuer();
    const { token } = await addKey('one');
    state.location = '/elsewhere';
    await expect(bearer(await token())).rejects.toMatchObject(NO_KEYS);
    expect(state.fetches).toBe(1);
  });

  it('rejects an HMAC made with the public key', async () => {
    const { addKey, bearer } = await openIssuer();
    const { publicKey } = await addKey('one');
    const pem = await exportSPKI(publicKey);
    const forged = new SignJWT(CLAIMS).setProtectedHeader({ alg: 'HS256', kid: 'one' });
    await expect(bearer(await forged.sign(Buffer.from(pem)))).rejects.toThrow(Unauthenticated);
    await expect(bearer(new UnsecuredJWT(CLAIMS).encode())).rejects.toThrow(Unauthenticated);
  });
});
