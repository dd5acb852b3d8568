import { once } from 'node:events';
import { type IncomingMessage, createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

import { expect, it } from 'vitest';

import { BodyTooLarge, createBodyReader } from '../src/request-body.ts';

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

it('reads a body that has come as a whole, and rejects one that is too long', async () => {
  const read = createBodyReader(2_000);
  await using server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const outcomeOf = async (req: IncomingMessage): Promise<string> => {
    while (!req.complete) await setImmediate();
    return read(req).then(
      (body) => `${body.length} bytes`,
      (error) => (error instanceof BodyTooLarge ? 'too large' : 'failed'),
    );
  };
  server.on('request', (req: IncomingMessage, res) => {
    void outcomeOf(req).then((outcome) => res.end(outcome));
  });
  const post = async (body: BodyInit | null) => {
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' };
    return (await fetch(`http://127.0.0.1:${port}`, init)).text();
  };
  /** Without a length in its headers. */
  const chunked = (bytes: number) => new Blob([Buffer.alloc(bytes)]).stream();
  expect(await post('abc')).toBe('3 bytes');
  expect(await post(null)).toBe('0 bytes');
  expect(await post(chunked(2_000))).toBe('2000 bytes');
  expect(await post(chunked(2_001))).toBe('too large');
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
