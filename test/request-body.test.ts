import { once } from 'node:events';
import { type IncomingMessage, createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

import { expect, it } from 'vitest';

import { createBodyReader } from '../src/request-body.ts';

const MB = 2 ** 20;

it('rejects the body that is closed for the memory that all take', async () => {
  const read = createBodyReader(50 * MB);
  await using server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const outcomes: Promise<string>[] = [];
  server.on('request', (req: IncomingMessage) =>
    outcomes.push(read(req).then(() => 'read', String)),
  );
  const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${50 * MB}\r\n\r\n`;
  const sockets = [1, 2].map(() => connect(port, '127.0.0.1').on('error', () => undefined));
  for (const socket of sockets) {
    socket.write(head);
    await new Promise((resolve) => socket.write(Buffer.alloc(40 * MB), resolve));
  }
  expect(await outcomes[0]).toBe('Error: Incomplete bodies take too much memory');
  for (const socket of sockets) socket.destroy();
  expect(await outcomes[1]).toBe('Error: aborted');
});
