import { connect } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';

const HEADERS_MS = 300;
const REQUEST_MS = 900;

let gateway: Gateway;
let head: string;
beforeAll(async () => {
  gateway = await openGateway({ limits: { headersMs: HEADERS_MS, requestMs: REQUEST_MS } });
  const authorization = `Authorization: Bearer ${await tokenFor(['partner'])}`;
  head = `Host: a\r\n${authorization}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`;
});
afterAll(() => gateway.close());

/** Sends so much at once and the rest a byte at a time, for as long as it is let. What it heard, and for how long. */
async function drip(start: string) {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  let heard = '';
  socket.on('data', (chunk) => (heard += chunk.toString()));
  const began = performance.now();
  socket.write(start);
  const dripping = setInterval(() => socket.writable && socket.write('a'), 20);
  // Cut off, it may be reset as well: either is an end.
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(dripping);
  return { status: heard.split(' ')[1], lastedMs: performance.now() - began };
}

describe('a client that takes its time', () => {
  it.each(['/graphql', '/webhooks'])(
    'over the headers to %s is cut off, and so is one over the body, each by its own limit',
    async (path) => {
      const [slowHeaders, slowBody] = await Promise.all([
        drip(`POST ${path} HTTP/1.1\r\nX: `),
        drip(`POST ${path} HTTP/1.1\r\n${head}{`),
      ]);
      for (const { status } of [slowHeaders, slowBody])
        expect(['408', undefined]).toContain(status);
      expect(slowHeaders.lastedMs).toBeGreaterThanOrEqual(HEADERS_MS);
      expect(slowBody.lastedMs).toBeGreaterThanOrEqual(REQUEST_MS);
      // Node looks every so often.
      expect(slowHeaders.lastedMs).toBeLessThan(REQUEST_MS + 5_000);
      expect(slowBody.lastedMs).toBeLessThan(REQUEST_MS + 5_000);
      expect(slowHeaders.lastedMs).toBeLessThan(slowBody.lastedMs);
    },
  );

  it('keeps nobody else waiting', async () => {
    const slow = Array.from({ length: 50 }, () => drip('POST /graphql HTTP/1.1\r\nX: '));
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    await Promise.all(slow);
  });
});
