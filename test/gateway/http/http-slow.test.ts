import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';

import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';

import { openIssuer } from '../../support/faults/issuer.ts';
import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';
import { until } from '../../support/ws/raw-socket.ts';

const HEADERS_MS = 300;
const REQUEST_MS = 900;

let gateway: Gateway;
let head: string;
beforeAll(async () => {
  gateway = await openGateway({
    limits: { headersMs: HEADERS_MS, requestMs: REQUEST_MS, operationMs: REQUEST_MS },
  });
  const authorization = `Authorization: Bearer ${await tokenFor(['partner'])}`;
  head = `Host: a\r\n${authorization}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`;
});
afterAll(() => gateway.close());

/** Sends `start` at once and then a byte at a time until the server closes. The status, and how long it took. */
async function drip(start: string) {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString()));
  const began = performance.now();
  socket.write(start);
  const dripping = setInterval(() => socket.writable && socket.write('a'), 20);
  // A disconnect may also be a reset.
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(dripping);
  return { status: received.split(' ')[1], lastedMs: performance.now() - began };
}

/**
 * Asks for 25 MB and does not read them. Returns the client's end of the connection once the response is sent, and when
 * the server's end is closed.
 */
async function askWithoutReading(
  { url, sandbox, query }: Gateway,
  accept: string,
): Promise<{ client: Socket; large: string; serverClosed: Promise<void> }> {
  const { hostname, port } = new URL(url);
  const transcripts = (count: number) =>
    `{ session(id: "${sandbox.ids.session(0, 0)}") { ${Array.from({ length: count }, (_, n) => `t${n}: transcript { raw }`).join(' ')} } }`;
  // From the cache there is no read that the time limit of operations could abort.
  await until(async () => {
    sandbox.answerNext('/sessions/:id/transcript', {
      body: { transcriptItems: Array.from({ length: 1_000 }, () => ({ text: 'x'.repeat(1_000) })) },
    });
    return (await query(transcripts(1))).errors === undefined;
  });
  const large = transcripts(25);
  const body = JSON.stringify({ query: large });
  const accepted = nextAccepted(port);
  const client = connect(Number(port), hostname).on('error', () => undefined);
  client.pause();
  client.write(
    `POST /graphql HTTP/1.1\r\nAccept: ${accept}\r\n${head.replace('1000', String(body.length))}${body}`,
  );
  const server = await accepted;
  const serverClosed = new Promise<void>((resolve) => server.once('close', () => resolve()));
  await until(() => server.bytesWritten > 20_000_000);
  return { client, large, serverClosed };
}

/** The server's end of the next connection, which is in this process. */
function nextAccepted(port: string): Promise<Socket> {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const onSocket = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket };
    if (String(socket.localPort) === port) resolve(socket);
  };
  subscribe('net.server.socket', onSocket);
  return promise.finally(() => unsubscribe('net.server.socket', onSocket));
}

describe('a slow client', () => {
  it.each(['/graphql', '/webhooks'])(
    'is disconnected from %s while sending headers, and while sending the body, each at its own limit',
    async (path) => {
      const [slowHeaders, slowBody] = await Promise.all([
        drip(`POST ${path} HTTP/1.1\r\nX: `),
        drip(`POST ${path} HTTP/1.1\r\n${head}{`),
      ]);
      for (const { status } of [slowHeaders, slowBody])
        expect(['408', undefined]).toContain(status);
      expect(slowHeaders.lastedMs).toBeGreaterThanOrEqual(HEADERS_MS);
      expect(slowBody.lastedMs).toBeGreaterThanOrEqual(REQUEST_MS);
      // Node checks these limits at intervals.
      expect(slowHeaders.lastedMs).toBeLessThan(REQUEST_MS + 5_000);
      expect(slowBody.lastedMs).toBeLessThan(REQUEST_MS + 5_000);
      expect(slowHeaders.lastedMs).toBeLessThan(slowBody.lastedMs);
    },
  );

  it.each(['application/json', 'text/event-stream'])(
    'is disconnected if it does not read its response (%s)',
    async (accept) => {
      const { client, serverClosed } = await askWithoutReading(gateway, accept);
      await serverClosed;
      // The client does not learn of it before it reads.
      const closed = new Promise((resolve) => client.once('close', resolve));
      client.resume();
      await closed;
      expect(client.bytesRead).toBeLessThan(20_000_000);
    },
  );

  it.each(['application/json', 'text/event-stream'])(
    'gets no other large response before it has read those that it asked for (%s)',
    async (accept) => {
      await using other = await openGateway({ limits: { unreadCharacters: 20_000_000 } });
      const { client, large } = await askWithoutReading(other, accept);
      const rejected = await other.query(large);
      expect(rejected.status).toBe(429);
      expect(rejected.errors?.map(({ message }) => message)).toEqual([
        'You have not read the responses to your earlier requests: read them first.',
      ]);
      expect((await other.query('{ viewer { subject } }')).status).toBe(200);
      // Its outcome may be large, and is sent in any case: so it is not made.
      const { sandbox } = other;
      const edit = `mutation { regenerateProgressNote(input: { progressNoteId: "${sandbox.ids.note(0, 0)}" }) { __typename } }`;
      expect((await other.query(edit)).status).toBe(429);
      expect(sandbox.countOf('POST /progress-notes/:id/regenerate')).toBe(0);
      const authorization = `Bearer ${await tokenFor(['partner'], { subject: 'bea' })}`;
      expect((await other.query(large, {}, { authorization })).status).toBe(200);
      client.resume();
      await until(async () => (await other.query(large)).status === 200);
    },
  );

  it('does not delay other clients', async () => {
    const slow = Array.from({ length: 50 }, () => drip('POST /graphql HTTP/1.1\r\nX: '));
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    await Promise.all(slow);
  });
});

it.each(['application/json', 'text/event-stream'])(
  'a client that leaves while its token is verified causes no call (%s)',
  async (accept) => {
    await using issuer = await openIssuer();
    await using other = await openGateway({ env: issuer.env });
    const { countOf, ids } = other.sandbox;
    const keys = Promise.withResolvers<void>();
    issuer.holdUntil(keys.promise);
    const headers = { accept, authorization: `Bearer ${await issuer.token('anna')}` };
    const ask = (id: string, signal?: AbortSignal) => {
      const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
      const body = JSON.stringify({ query: `{ progressNote(id: "${id}") { note } }` });
      return fetch(`${other.url}/graphql`, { ...init, body, signal: signal ?? null });
    };
    const accepted = nextAccepted(new URL(other.url).port);
    const leaving = new AbortController();
    const left = ask(ids.note(0, 0), leaving.signal);
    const closed = once(await accepted, 'close');
    await expect.poll(issuer.fetches).toBe(1);
    leaving.abort();
    await expect(left).rejects.toThrow('aborted');
    await closed;
    const stayed = ask(ids.note(0, 1));
    keys.resolve();
    expect(await (await stayed).text()).toContain('"note":[');
    expect(countOf('GET /progress-notes/:id')).toBe(1);
  },
);

it('a large response whose client left before it was made does not count as unread', async () => {
  await using other = await openGateway({ limits: { unreadCharacters: 1 } });
  const { url, query } = other;
  const { answerNext, countOf, ids } = other.sandbox;
  const { hostname, port } = new URL(url);
  const ask = (fields: string) => `{ session(id: "${ids.session(0, 0)}") { ${fields} } }`;
  const transcriptItems = Array.from({ length: 100 }, () => ({ text: 'x'.repeat(1_000) }));
  answerNext('/sessions/:id/transcript', { body: { transcriptItems } });
  const large = ask('transcript { raw }');
  expect((await query(large)).status).toBe(200);
  answerNext('/sessions/:id/mdm', { hang: true });
  const body = JSON.stringify({ query: ask('transcript { raw } mdm { raw }') });
  const accepted = nextAccepted(port);
  const client = connect(Number(port), hostname);
  client.write(`POST /graphql HTTP/1.1\r\n${head.replace('1000', String(body.length))}${body}`);
  await expect.poll(() => countOf('GET /sessions/:id/mdm')).toBe(1);
  const closed = once(await accepted, 'close');
  client.destroy();
  await closed;
  expect((await query(large)).status).toBe(200);
});

it.each(['application/json', 'text/event-stream'])(
  'a token that expires while the body arrives is rejected, for %s',
  async (accept) => {
    // With the usual time for a request: on a busy machine, the query below takes a second.
    await using own = await openGateway();
    const { hostname, port } = new URL(own.url);
    const body = JSON.stringify({ query: '{ viewer { subject } }' });
    const client = connect(Number(port), hostname).setEncoding('utf8');
    const headers = head.replace('1000', String(body.length));
    client.write(`POST /graphql HTTP/1.1\r\nAccept: ${accept}\r\n${headers}${body.slice(0, 9)}`);
    // By now the server has read the headers, and verified the token.
    await own.query('{ viewer { subject } }');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    client.write(body.slice(9));
    const [response] = await once(client, 'data');
    expect(response).toMatch(/^HTTP\/1.1 401 .*"The bearer token has expired\."/s);
    client.destroy();
  },
);

it('an event stream whose client leaves while its token is verified does not count as open', async () => {
  await using issuer = await openIssuer();
  await using other = await openGateway({ env: issuer.env, limits: { socketsPerViewer: 1 } });
  const keys = Promise.withResolvers<void>();
  issuer.holdUntil(keys.promise);
  const authorization = `Bearer ${await issuer.token('anna')}`;
  const stream = (signal: AbortSignal) =>
    fetch(`${other.url}/graphql`, {
      method: 'POST',
      headers: { accept: 'text/event-stream', authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'subscription { events { cursor } }' }),
      signal,
    });
  const accepted = nextAccepted(new URL(other.url).port);
  const leaving = new AbortController();
  const left = stream(leaving.signal);
  const closed = once(await accepted, 'close');
  await expect.poll(issuer.fetches).toBe(1);
  leaving.abort();
  await expect(left).rejects.toThrow('aborted');
  await closed;
  keys.resolve();
  const staying = new AbortController();
  expect((await stream(staying.signal)).status).toBe(200);
  staying.abort();
});
