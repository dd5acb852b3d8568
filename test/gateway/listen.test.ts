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
  };
  const config = readConfig({ HOST: '127.0.0.1', PORT: '0' });
  const listening = await listen(app, config, () => undefined);
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
