import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openQuietSandbox, type Caller } from '../support/sandbox/caller.ts';

let caller: Caller;
beforeEach(async () => {
  caller = await openQuietSandbox();
});
afterEach(() => caller.sandbox.close());

const authenticate = (body: unknown, headers = {}) =>
  caller.ask('/partners/authenticate', { method: 'POST', body, headers });

describe('POST /partners/authenticate', () => {
  it('returns a token for an hour, without an access token', async () => {
    const { clientId, clientSecret } = caller.sandbox.connection;
    const { status, body } = await authenticate({ clientId, clientSecret }, { 'access-token': '' });
    expect(status).toBe(200);
    expect(body).toEqual({
      accessToken: expect.any(String),
      expiresIn: 3600,
      tokenType: 'Bearer',
    });
  });

  it('rejects wrong credentials with an envelope', async () => {
    const { status, body } = await authenticate({ clientId: 'x', clientSecret: 'y' });
    expect(status).toBe(401);
    expect(body.error.message).toBe('Invalid client credentials');
  });

  it('lists every field that is missing', async () => {
    const { status, body } = await authenticate({ clientId: 5 });
    expect(status).toBe(400);
    expect(body.error.message).toEqual({
      message: ['clientId must be a string', 'clientSecret must be a string'],
      error: 'Bad Request',
      statusCode: 400,
    });
  });

  it('rejects invalid JSON with a plain message', async () => {
    const { status, body } = await caller.ask('/partners/authenticate', {
      method: 'POST',
      rawBody: '{',
    });
    expect(status).toBe(400);
    expect(body.error.message).toBe('Request body is not valid JSON');
  });

  it('has a secret of at least 32 characters, the same at every start', async () => {
    const other = await openQuietSandbox();
    const { baseUrl: _, ...credentials } = other.sandbox.connection;
    expect(caller.sandbox.connection).toMatchObject(credentials);
    expect(credentials.clientSecret.length).toBeGreaterThanOrEqual(32);
    await other.sandbox.close();
  });
});

describe('the access token', () => {
  it('gets 401 in an envelope once it expired', async () => {
    caller.sandbox.expireTokens();
    const { status, body } = await caller.ask('/partners');
    expect(status).toBe(401);
    expect(body).toEqual({
      error: {
        type: expect.any(String),
        message: 'Access token has expired',
        statusCode: 401,
        timestamp: expect.any(String),
        details: [],
      },
      path: expect.stringContaining('/partners'),
    });
  });

  it('expires by itself after its lifetime', async () => {
    caller.sandbox.set({ tokenSeconds: 0 });
    const { clientId, clientSecret } = caller.sandbox.connection;
    const { body } = await authenticate({ clientId, clientSecret });
    const answer = await caller.ask('/partners', { headers: { 'access-token': body.accessToken } });
    expect(answer.status).toBe(401);
  });

  it.each(['', 'garbage', 'sandbox.unknown'])(
    'gets 403 in an envelope if it is "%s"',
    async (token) => {
      const { status, body } = await caller.ask('/partners', {
        headers: { 'access-token': token },
      });
      expect(status).toBe(403);
      expect(body.error.statusCode).toBe(403);
    },
  );

  it('gets 403 once it was revoked', async () => {
    caller.sandbox.revokeTokens();
    expect((await caller.ask('/partners')).status).toBe(403);
  });

  it('is not read from an Authorization header', async () => {
    const headers = { 'access-token': '', authorization: `Bearer ${caller.token}` };
    expect((await caller.ask('/partners', { headers })).status).toBe(403);
  });
});

describe('the API gateway in front', () => {
  it.each(['', 'wrong'])('forbids the API key "%s" with a bare message', async (key) => {
    const { status, body } = await caller.ask('/partners', { headers: { 'x-api-key': key } });
    expect(status).toBe(403);
    expect(body).toEqual({ message: 'Forbidden' });
  });

  it.each([
    ['GET', '/nowhere'],
    ['GET', '/organizations/'],
    ['DELETE', '/partners'],
    ['POST', '/organizations'],
    ['GET', '/partners/authenticate'],
    ['GET', '/clinics/x/clients/y'],
    ['GET', '/clients'],
  ])('has no route %s %s', async (method, path) => {
    const { status, body } = await caller.ask(path, { method });
    expect(status).toBe(403);
    expect(body).toEqual({ message: 'Missing Authentication Token' });
  });

  it('has no route without the version', async () => {
    const url = caller.sandbox.connection.baseUrl.replace('/v2', '/partners');
    expect(await (await fetch(url)).json()).toEqual({ message: 'Missing Authentication Token' });
  });
});

describe('clinician tokens', () => {
  it('are a new pair each time, in PascalCase', async () => {
    const path = `/clinicians/${caller.sandbox.ids.clinician(0)}/authenticate`;
    const [one, two] = await Promise.all([
      caller.ask(path, { method: 'POST' }),
      caller.ask(path, { method: 'POST' }),
    ]);
    expect(Object.keys(one.body)).toEqual(['AccessToken', 'IdToken', 'RefreshToken', 'ExpiresIn']);
    expect(one.body).toMatchObject({ IdToken: one.body.AccessToken, ExpiresIn: 600 });
    expect(one.body.AccessToken).not.toBe(two.body.AccessToken);
    expect(one.body.RefreshToken).not.toBe(two.body.RefreshToken);
  });
});
