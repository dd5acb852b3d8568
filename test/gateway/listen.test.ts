import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';

import { readConfig } from '../../src/config.ts';
import { listen } from '../../src/gateway/listen.ts';

/** More than the system takes for a client that reads nothing. */
const BODY = Buffer.alloc(32 * 1024 * 1024);

it('sends a slow client its whole response during a shutdown', async () => {
  let handedOver = () => {};
  const over = new Promise<void>((resolve) => (handedOver = resolve));
  const app = {
    handle: (_req: unknown, res: { end(body: Buffer): void }) => {
      res.end(BODY);
      handedOver();
    },
    upgrade: () => undefined,
    closeSocketsAndStreams: () => undefined,
    eventsLost: () => undefined,
    abortReads: () => undefined,
    hasRunningOperations: () => false,
    endCalls: () => Promise.resolve(),
    onRefused: () => undefined,
  };
  const config = readConfig({ HOST: '127.0.0.1', PORT: '0' });
  const listening = await listen(app, config, new AbortController());
  const client = connect(Number(new URL(listening.url).port), '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n');
  client.pause();
  await over;
  const closed = listening[Symbol.asyncDispose]();
  let bytes = 0;
  client.on('data', (chunk) => (bytes += chunk.length)).resume();
  await once(client, 'close');
  await closed;
  expect(bytes).toBeGreaterThan(BODY.length);
});

it('closes a connection with more than sixteen requests that wait for another', async () => {
  const responses: { end(): void }[] = [];
  const app = {
    handle: (_req: unknown, res: { end(): void }) => void responses.push(res),
    upgrade: () => undefined,
    closeSocketsAndStreams: () => undefined,
    eventsLost: () => undefined,
    abortReads: () => undefined,
    hasRunningOperations: () => false,
    endCalls: () => Promise.resolve(),
    onRefused: () => undefined,
  };
  const config = readConfig({ HOST: '127.0.0.1', PORT: '0' });
  await using listening = await listen(app, config, new AbortController());
  const request = 'GET / HTTP/1.1\r\nhost: here\r\n\r\n';
  const client = connect(Number(new URL(listening.url).port), '127.0.0.1');
  client.on('error', () => undefined);
  let received = '';
  client.on('data', (chunk) => (received += chunk.toString('latin1')));
  // Twice: a response that is sent makes room for the next.
  for (const all of [17, 34]) {
    client.write(request.repeat(17));
    await expect.poll(() => responses.length).toBe(all);
    for (const response of responses.slice(-17)) response.end();
    await expect.poll(() => received.split('HTTP/1.1 200').length - 1).toBe(all);
  }
  client.write(request.repeat(500));
  await once(client, 'close');
  expect(responses.length).toBe(51);
});
