import { once } from 'node:events';
import { type IncomingMessage, createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { PassThrough } from 'node:stream';

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

/** A request whose connection stays open after its end. */
const createRequest = () =>
  Object.assign(new PassThrough({ autoDestroy: false }), { headers: {}, complete: false });

it('counts the memory of each chunk, which may be a single byte', async () => {
  const read = createBodyReader(MB);
  const byte = Buffer.from('x');
  const requests = [createRequest(), createRequest()] as const;
  const outcomes = requests.map((req) => read(req as never).then(() => 'read', String));
  for (const req of requests) for (let n = 0; n < 150_000; n += 1) req.emit('data', byte);
  expect(await outcomes[0]).toBe('Error: Incomplete bodies take too much memory');
  requests[1].emit('end');
  expect(await outcomes[1]).toBe('read');
});

it('counts incomplete bodies only: any number may come one after the other', async () => {
  const read = createBodyReader(MB);
  const requests = Array.from({ length: 100 }, createRequest);
  for (const req of requests) {
    const body = read(req as never);
    req.end(Buffer.alloc(MB));
    expect((await body).length).toBe(MB);
  }
  expect(requests.filter(({ destroyed }) => destroyed)).toEqual([]);
});
