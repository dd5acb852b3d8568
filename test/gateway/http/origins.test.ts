import { expect, it } from 'vitest';

import { readConfig } from '../../../src/config.ts';
import { createLog } from '../../../src/observability/log.ts';
import { openServer } from '../../../src/server.ts';
import { openGateway, post, tokenFor } from '../../support/gateway.ts';
import { dial } from '../../support/ws/raw-socket.ts';

type Line = Readonly<Record<string, unknown>>;

/** The sandbox, as `npm start` runs it. */
async function openSandboxServer(lines: Line[] = []) {
  const config = readConfig({ PORT: '0', SANDBOX_PULSE_MS: '0' });
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line) as Line) });
  return openServer(config, log);
}

const REQUESTED = 'authorization,content-type,traceparent,x-request-id';

const preflight = (url: string, origin: string) =>
  fetch(`${url}/graphql`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': REQUESTED,
    },
  });

const allowed = async (url: string, origin: string) =>
  (await preflight(url, origin)).headers.get('access-control-allow-origin');

async function opens(url: string, origin: string): Promise<boolean> {
  using socket = dial({ url }, { origin });
  return await new Promise((resolve) => {
    socket.ws.on('open', () => resolve(true)).on('error', () => resolve(false));
  });
}

it('in the sandbox any localhost origin is allowed, and no other', async () => {
  await using server = await openSandboxServer();
  for (const origin of ['http://localhost:5173', 'http://localhost:3000', 'http://localhost']) {
    expect(await allowed(server.url, origin)).toBe(origin);
    expect(await opens(server.url, origin)).toBe(true);
    const { headers, data } = await post(server.url, { query: '{ __typename }' }, { origin });
    expect(data).toEqual({ __typename: 'Query' });
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(headers.get('vary')).toContain('Origin');
  }
  for (const origin of [
    'https://localhost:5173',
    'http://localhost.evil.example',
    'http://localhost:80@evil.example',
    'http://evil.example:3000',
    'null',
  ]) {
    expect(await allowed(server.url, origin)).toBeNull();
    expect(await opens(server.url, origin)).toBe(false);
  }
});

it('with the real Partner API localhost must be listed like any origin', async () => {
  await using gateway = await openGateway();
  const origin = 'http://localhost:5173';
  expect(await allowed(gateway.url, origin)).toBeNull();
  expect(await opens(gateway.url, origin)).toBe(false);
  const { status, headers } = await gateway.query('{ __typename }', {}, { origin });
  expect([status, headers.get('access-control-allow-origin')]).toEqual([200, null]);
});

it('a page may send the headers that it asks for, and read the request id and Retry-After', async () => {
  await using gateway = await openGateway({ env: { ALLOWED_ORIGINS: 'https://app.example' } });
  const { headers } = await preflight(gateway.url, 'https://app.example');
  expect(headers.get('access-control-allow-origin')).toBe('https://app.example');
  expect(headers.get('access-control-allow-headers')?.replaceAll(' ', '')).toBe(REQUESTED);
  const refused = await preflight(gateway.url, 'https://other.example');
  expect(refused.headers.get('access-control-allow-headers')).toBeNull();
  const authorization = `Bearer ${await tokenFor(['partner'])}`;
  // The third answer comes from the cache.
  for (const token of [authorization, authorization, authorization, 'Bearer forged']) {
    const answer = await post(
      gateway.url,
      { query: '{ organizations { totalCount } }' },
      { authorization: token, origin: 'https://app.example' },
    );
    const cors = [...answer.headers].filter(([name]) => /^(access-control-|vary)/.test(name));
    expect(Object.fromEntries(cors)).toEqual({
      'access-control-allow-origin': 'https://app.example',
      'access-control-expose-headers': 'x-request-id, retry-after',
      vary: 'Origin',
    });
  }
});

it('a rejected origin is logged once with ALLOWED_ORIGINS, and the number of such lines is limited', async () => {
  const lines: Line[] = [];
  await using gateway = await openGateway({
    env: { ALLOWED_ORIGINS: 'https://app.example' },
    onLog: (line) => lines.push(JSON.parse(line) as Line),
  });
  const refused = () => lines.filter(({ msg }) => String(msg).includes('ALLOWED_ORIGINS'));
  await preflight(gateway.url, 'https://app.example');
  await preflight(gateway.url, gateway.url);
  expect(refused()).toEqual([]);
  const { headers } = await preflight(gateway.url, 'https://other.example:8443');
  const requestId = headers.get('x-request-id');
  for (const _ of [1, 2]) await preflight(gateway.url, 'https://other.example:8443');
  await opens(gateway.url, 'https://other.example:8443');
  await opens(gateway.url, 'https://third.example');
  expect(refused()).toMatchObject([
    { level: 'warn', origin: 'https://other.example:8443', requestId },
    { level: 'warn', origin: 'https://third.example' },
  ]);
  for (let i = 0; i < 50; i += 1) await preflight(gateway.url, `https://made-up-${i}.example`);
  expect(refused().length).toBe(20);
});
