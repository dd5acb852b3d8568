import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';

import { initWith, subscribe } from '../ws/raw-socket.ts';
import { frameOf } from '../ws/frames.ts';

/**
 * How many connect at once. `CLIENTS=5000` takes minutes, `ulimit -n 20000`, and memory for the system's own buffers,
 * which thousands of stalled readers fill.
 */
export const CLIENTS = Number(process.env['CLIENTS'] ?? 20);
export const isFull = CLIENTS >= 5_000;

/** A bare TCP connection, so that thousands fit into memory. */
export async function connected(url: string): Promise<Socket> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Sends unsolicited pongs, so that a client that has stopped reading still counts as alive. */
export function keepAlive(sockets: readonly Socket[], everyMs = 5_000): Disposable {
  const pong = frameOf('', { opcode: 10 });
  const timer = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write(pong);
  }, everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Subscribes, and from then on neither reads nor writes. */
export async function silentSubscriber(url: string, token: string, query: string) {
  const socket = await connected(url);
  const key = randomBytes(16).toString('base64');
  socket.write(
    `GET /graphql HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
      `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n`,
  );
  await once(socket, 'data');
  socket.write(frameOf(JSON.stringify(initWith(token))));
  await once(socket, 'data');
  socket.pause();
  socket.write(frameOf(JSON.stringify(subscribe('1', query))));
  return socket;
}

/** A few hundred at a time: all at once would measure the client's own queue. */
export async function inBatches<T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  while (made.length < count) {
    const some = Math.min(250, count - made.length);
    const from = made.length;
    made.push(...(await Promise.all(Array.from({ length: some }, (_, i) => make(from + i)))));
  }
  return made;
}

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN;

/** The code of the last frame, once everything before it was read. */
export function closeCodeOf(socket: Socket): Promise<number> {
  return new Promise((resolve) => {
    let tail = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      tail = Buffer.concat([tail, chunk]).subarray(-64);
      const at = tail.lastIndexOf(0x88);
      // A close frame with its reason is the last that is sent.
      if (at >= 0 && tail[at + 1] === tail.length - at - 2) resolve(tail.readUInt16BE(at + 2));
    });
    if (socket.closed) resolve(1006);
    socket.on('close', () => resolve(1006));
    socket.resume();
  });
}
