import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type Socket, connect } from 'node:net';
import { Worker } from 'node:worker_threads';

import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { type Gateway, openGateway, post, tokenFor } from '../../support/gateway.ts';
import { raw as send } from '../../support/raw-http.ts';

let gateway: Gateway;
let authorization: string;
beforeAll(async () => {
  gateway = await openGateway();
  authorization = `Bearer ${await tokenFor(['partner'])}`;
});
afterAll(() => gateway.close());
beforeEach(() => gateway.sandbox.resetCounts());

type Init = Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> };

const request = (init: Init, path = '/graphql') =>
  fetch(`${gateway.url}${path}`, { ...init, headers: { authorization, ...init.headers } });

/** Sends raw bytes over a connection. */
const raw = (bytes: string, onOpen?: (socket: Socket) => void) => send(gateway.url, bytes, onOpen);

it('answers PersistedQueryNotSupported to a request with only the hash of a document', async () => {
  const persistedQuery = { version: 1, sha256Hash: 'a' };
  for (const body of [{ extensions: { persistedQuery } }, { documentId: 'sha256:a' }]) {
    const { status, errors } = await post(gateway.url, body, { authorization });
    expect(status).toBe(404);
    expect(errors).toEqual([
      {
        message: 'PersistedQueryNotSupported',
        extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED', requestId: expect.any(String) },
      },
    ]);
  }
});

it('answers 404 for an unknown path', async () => {
  const response = await request({ method: 'POST', body: '{}' }, '/graphqll');
  expect(response.status).toBe(404);
  const [error] = (await response.json()).errors;
  expect(error.extensions.code).toBe('NOT_FOUND');
  expect(error.message).toContain('/graphql');
});

describe('methods', () => {
  it.each(['?query={__typename}', '?query=mutation{a}', ''])(
    'answers GET %s with 405',
    async (q) => {
      const response = await request({ method: 'GET' }, `/graphql${q}`);
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toContain('POST');
      const { errors } = await response.json();
      expect(errors[0].message).toMatch(
        /^Send a POST.*preferGetMethod: false.*useGETForQueries: false/,
      );
      expect(gateway.sandbox.countOf()).toBe(0);
    },
  );

  it.each(['before', 'after'])(
    'keeps running when a client resets its connection %s the answer to a CONNECT',
    async (moment) => {
      const { hostname, port } = new URL(gateway.url);
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
      if (moment === 'after') await once(socket, 'data');
      socket.resetAndDestroy();
      await once(socket, 'close');
      expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    },
  );

  it.each([
    'TRACE / HTTP/1.1',
    'TRACE /graphql HTTP/1.1',
    'TRACE /unknown HTTP/1.1',
    'OPTIONS * HTTP/1.1',
    'CONNECT a:1 HTTP/1.1',
  ])('rejects %s', async (line) => {
    expect(await raw(`${line}\r\nHost: a\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 40[05]/,
    );
  });
});

it('answers HEAD where it answers GET', async () => {
  for (const path of ['/healthz', '/readyz', '/metrics'])
    expect((await request({ method: 'HEAD' }, path)).status).toBe(200);
  expect((await request({ method: 'HEAD' }, '/webhooks')).status).toBe(405);
  const asPage = { headers: { accept: 'text/html' } };
  const [page, head] = [await request(asPage), await request({ ...asPage, method: 'HEAD' })];
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect(head.headers.get('etag')).toBe(page.headers.get('etag'));
});

it('shows metrics only to those who have METRICS_TOKEN, if it is set', async () => {
  const token = 'scraper-'.repeat(4);
  await using guarded = await openGateway({ env: { METRICS_TOKEN: token } });
  const get = (credentials: string) =>
    fetch(`${guarded.url}/metrics`, { headers: { authorization: credentials } });
  for (const wrong of ['', `Bearer ${token}x`, `Basic ${token}`]) {
    const response = await get(wrong);
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(await response.text()).not.toContain('gateway_');
  }
  expect(await (await get(`Bearer ${token}`)).text()).toContain('gateway_sockets');
});

it('says with a 401 how to authenticate', async () => {
  const headers = { authorization: 'Bearer no', 'content-type': 'application/json' };
  const response = await request({ method: 'POST', headers, body: '{}' });
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
});

it.each([
  ['POST /graphql', 413, () => authorization],
  ['POST /graphql', 401, () => 'Bearer forged'],
  ['POST /webhooks', 413, () => ''],
  ['POST /nope', 404, () => ''],
  ['GET /healthz', 200, () => ''],
])('closes the connection of a %s whose body never ends, after a %d', async (line, status, as) => {
  const chunk = Buffer.from(`10000\r\n${'x'.repeat(0x10000)}\r\n`);
  const headers = `Host: a\r\nAuthorization: ${as()}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked`;
  const received = await raw(`${line} HTTP/1.1\r\n${headers}\r\n\r\n`, (socket) => {
    const pour = (): void => {
      while (socket.writable && socket.write(chunk));
    };
    // At intervals, since the server reads all that comes until it closes.
    socket.on('drain', () => setTimeout(pour, 20));
    pour();
  });
  expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status}`));
});

describe('connections', () => {
  it('stay open for 75 seconds between two requests, longer than proxies keep them', async () => {
    const { headers } = await fetch(`${gateway.url}/healthz`);
    expect(headers.get('keep-alive')).toBe('timeout=75');
  });
});

describe('sizes', () => {
  it('accepts 256 KiB and rejects one byte more by its Content-Length', async () => {
    const body = (bytes: number) => {
      const shell = JSON.stringify({ query: '{__typename}', extensions: { x: '' } });
      return shell.replace('""', `"${'a'.repeat(bytes - shell.length)}"`);
    };
    expect((await post(gateway.url, body(262_144), { authorization })).status).toBe(200);
    expect((await post(gateway.url, body(262_145), { authorization })).status).toBe(413);
  });

  it.each(['/graphql', '/webhooks'])(
    'rejects a Content-Length over the limit before the body is sent, and before the token is checked: %s',
    async (path) => {
      const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`;
      expect(await raw(`${head}Content-Length: 262145\r\n\r\n`)).toMatch(/^HTTP\/1.1 413/);
    },
  );

  it('keeps at most 64 MB of incomplete bodies, and closes the oldest', async () => {
    const head = `POST /graphql HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\n`;
    const bytes = 2 ** 18;
    const part = Buffer.from(`${head}Content-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes - 1)}`);
    const port = Number(new URL(gateway.url).port);
    const sockets = Array.from({ length: 300 }, () => connect(port, '127.0.0.1'));
    for (const socket of sockets) socket.on('error', () => undefined);
    for (const socket of sockets)
      await new Promise((resolve) => socket.write(part, () => resolve(undefined)));
    await expect.poll(() => sockets.filter(({ closed }) => closed).length).toBeGreaterThan(20);
    expect(sockets.at(-1)!.closed).toBe(false);
    expect((await gateway.query('{ viewer { subject } }')).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });
});

const NO_REQUESTS = [
  '{"query":"{__typename}","variables":[1]}',
  '{"query":"{__typename}","variables":"x"}',
  '{"query":"{__typename}","extensions":5}',
  '{"query":"{__typename}","operationName":5}',
  '{"query":null}',
  '{}',
  'null',
  '[]',
  '"x"',
  '5',
  '',
  '{',
  `[${'{"query":"{__typename}"},'.repeat(2).slice(0, -1)}]`,
  `[${'{"query":"{__typename}"},'.repeat(10_000).slice(0, -1)}]`,
];

describe('bodies', () => {
  it.each(NO_REQUESTS.map((body) => [body.slice(0, 50), body]))(
    'rejects %s with 400',
    async (_, body) => {
      const { status, errors, data } = await post(gateway.url, body, { authorization });
      expect([status, data, errors?.[0]?.extensions.code]).toEqual([
        400,
        undefined,
        'BAD_USER_INPUT',
      ]);
      expect(gateway.sandbox.countOf()).toBe(0);
    },
  );

  it('ignores __proto__, in the body and in the variables', async () => {
    const body =
      '{"__proto__":{"query":"{x}"},"query":"{viewer{subject}}","variables":{"__proto__":{"a":1}}}';
    const { data } = await post(gateway.url, body, { authorization });
    expect(data).toEqual({ viewer: { subject: 'tester' } });
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });
});

const INTROSPECTIONS = [
  '{ __schema { types { name } } }',
  '{ __type(name: "Query") { fields { name } } }',
  '{ a: __schema { queryType { name } } }',
  '{ ...F } fragment F on Query { ... on Query { __schema { types { name } } } }',
  `{ __schema { types { ${'fields { type { '.repeat(5)}name${' } }'.repeat(5)} } } }`,
];

describe('production', () => {
  it('has no IDE and no introspection', async () => {
    await using production = await openGateway({ env: { NODE_ENV: 'production', GRAPHIQL: '' } });
    for (const path of ['/graphql', '/graphiql', '/altair', '/playground', '/']) {
      const page = await fetch(`${production.url}${path}`, { headers: { accept: 'text/html' } });
      expect([404, 405]).toContain(page.status);
    }
    for (const document of INTROSPECTIONS) {
      const { errors, data } = await production.query(document);
      expect([data, errors?.[0]?.extensions.code]).toEqual([undefined, 'BAD_USER_INPUT']);
      expect(JSON.stringify(errors)).not.toMatch(/organizations|Clinic/);
    }
  });
});

it('shares a readiness check between requests at the same time', async () => {
  await using own = await openGateway();
  const { promise: allArrived, resolve } = Promise.withResolvers<void>();
  let arrived = 0;
  const onRequest = (message: unknown) => {
    const { request: req } = message as { readonly request: IncomingMessage };
    if (req.url === '/readyz' && ++arrived === 50) resolve();
  };
  subscribe('http.server.request.start', onRequest);
  const toStore = vi.spyOn(Worker.prototype, 'postMessage');
  onTestFinished(() => {
    unsubscribe('http.server.request.start', onRequest);
    toStore.mockRestore();
  });
  // The first check is under way while all requests arrive.
  const body = { accessToken: 'a', expiresIn: 3_600 };
  own.sandbox.answerNext('POST /partners/authenticate', { heldUntil: allArrived, body });
  const asked = Array.from({ length: 50 }, async () => (await fetch(`${own.url}/readyz`)).status);
  expect(new Set(await Promise.all(asked))).toEqual(new Set([200]));
  expect(JSON.stringify(toStore.mock.calls).match(/"checked"/g)).toHaveLength(1);
});
