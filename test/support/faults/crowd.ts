import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';

import { initWith, subscribe } from '../ws/raw-socket.ts';
import { frameOf } from '../ws/frames.ts';

/**
 * How many come at once. `CROWD=5000` is what a bad day looks like: it takes minutes, `ulimit -n 20000`, and as much
 * memory for the system's own buffers as thousands of stalled readers can hold.
 */
export const CROWD = Number(process.env['CROWD'] ?? 40);
export const isFull = CROWD >= 5_000;

/** A connection to a server: nothing more than a socket, so that thousands fit in. */
export async function connected(url: string): Promise<Socket> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** A reader that hangs, in a client that does not: it says that it is there, unasked, and takes nothing. */
export function sayHere(sockets: readonly Socket[]): Disposable {
  const pong = frameOf('', { opcode: 10 });
  const saying = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write(pong);
  }, 5_000);
  return { [Symbol.dispose]: () => clearInterval(saying) };
}

/** Subscribed, as far as it knows, and from then on it neither reads nor answers. */
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

/** A few hundred at a time: whoever dials all at once measures only its own queue. */
export async function inTurns<T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> {
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
