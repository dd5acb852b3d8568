import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';

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

/** Asks for 25 MB and does not read them. Returns both ends of the connection once the response is sent. */
async function askWithoutReading({ url, sandbox }: Gateway, accept = 'application/json') {
  const { hostname, port } = new URL(url);
  const { ids } = sandbox;
  sandbox.answerNext('/sessions/:id/transcript', {
    body: { transcriptItems: Array.from({ length: 5_000 }, () => ({ text: 'x'.repeat(1_000) })) },
  });
  const query = `{ session(id: "${ids.session(0, 0)}") { ${Array.from({ length: 5 }, (_, n) => `t${n}: transcript { raw }`).join(' ')} } }`;
  const body = JSON.stringify({ query });
  const accepted = nextAccepted(port);
  const client = connect(Number(port), hostname).on('error', () => undefined);
  client.pause();
  client.write(
    `POST /graphql HTTP/1.1\r\nAccept: ${accept}\r\n${head.replace('1000', String(body.length))}${body}`,
  );
  const server = await accepted;
  while (server.bytesWritten < 20_000_000) await delay(10);
  return { client, server };
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

  it('is disconnected if it does not read its response', async () => {
    const { client, server } = await askWithoutReading(gateway);
    await once(server, 'close');
    // The client does not learn of it before it reads.
    const closed = new Promise((resolve) => client.once('close', resolve));
    client.resume();
    await closed;
    expect(client.bytesRead).toBeLessThan(20_000_000);
  });

  it.each(['application/json', 'text/event-stream'])(
    'is disconnected at once if responses that are not read take too much memory (%s)',
    async (accept) => {
      await using other = await openGateway({ limits: { unreadCharacters: 20_000_000 } });
      const { server } = await askWithoutReading(other, accept);
      const closed = once(server, 'close');
      expect((await other.query('{ viewer { subject } }')).status).toBe(200);
      await closed;
    },
  );

  it('does not delay other clients', async () => {
    const slow = Array.from({ length: 50 }, () => drip('POST /graphql HTTP/1.1\r\nX: '));
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    await Promise.all(slow);
  });
});
