import { once } from 'node:events';
import { connect } from 'node:net';

import * as fc from 'fast-check';

import type { Gateway } from '../gateway.ts';
import { tokenFor } from '../gateway.ts';
import { type RawSocket, dial, initWith } from '../ws/raw-socket.ts';
import { documentsOf, mutatedDocuments } from './documents.ts';
import { anyValue } from './values.ts';
import { expectClientErrors } from './expect-response.ts';

/** Close codes of the gateway, of graphql-ws, and of `ws` for invalid frames. 1011 and 4500 would be bugs. */
const CLOSES = new Set([1002, 1003, 1007, 1009, 1013, 4400, 4401, 4403, 4408, 4409, 4429]);

/** Frames of every kind, in any order, before and after connection_ack. */
export async function frameProperty(gateway: Gateway) {
  const welcome = initWith(await tokenFor(['partner']));
  const id = fc.constantFrom('1', '2', '', 'x'.repeat(300), '\u0000');
  const value = anyValue(gateway.sandbox);
  const query = fc.oneof(documentsOf(gateway.sandbox), mutatedDocuments, value);
  const frame = fc.oneof(
    fc.record({
      id,
      type: fc.constant('subscribe'),
      payload: fc.record(
        { query, variables: value, operationName: value },
        { requiredKeys: ['query'] },
      ),
    }),
    fc.record({ id, type: fc.constant('complete') }),
    fc.record({
      type: fc.constantFrom('ping', 'pong', 'connection_init', 'next', 'x'),
      payload: value,
    }),
    fc.constant(welcome),
    fc.jsonValue().map((json) => JSON.stringify(json)),
    fc.string({ unit: 'binary' }),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  );
  return fc.asyncProperty(
    fc.boolean(),
    fc.array(frame, { maxLength: 6 }),
    async (welcomed, frames) => {
      using socket = dial(gateway);
      await once(socket.ws, 'open');
      if (welcomed) {
        socket.send(welcome);
        await socket.next();
      }
      for (const each of frames) socket.send(each);
      await finished(socket);
    },
  );
}

/** Resolves once everything sent has been handled: a ping is answered, or the socket is closed. */
async function finished(socket: RawSocket): Promise<void> {
  const payload = { last: true };
  socket.send({ type: 'ping', payload });
  for (;;) {
    const received = await Promise.race([socket.next(), socket.closed]);
    if (!('type' in received)) {
      if (CLOSES.has(received.code)) return;
      throw new Error(`socket: closed ${received.code} ${received.reason}`);
    }
    if (received.type === 'error') expectClientErrors(received.payload, 'socket');
    if (received.type === 'next' && received.payload.errors)
      expectClientErrors(received.payload.errors, 'socket');
    if (received.type === 'pong' && received.payload?.last) return;
  }
}

/** Bytes that are not HTTP: the response is 400 or nothing. */
export function wireProperty({ url }: Gateway) {
  const { port } = new URL(url);
  const start = fc.constantFrom(
    '',
    'POST /graphql HTTP/1.1\r\n',
    'GET /graphql HTTP/1.1\r\nUpgrade: websocket\r\n',
  );
  return fc.asyncProperty(
    start,
    fc.uint8Array({ minLength: 1, maxLength: 200 }),
    async (line, bytes) => {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      let received = '';
      socket.on('data', (chunk) => (received += chunk.toString()));
      socket.end(Buffer.concat([Buffer.from(line), bytes, Buffer.from('\r\n\r\n')]));
      await once(socket, 'close');
      if (!/^$|^HTTP\/1.1 4\d\d /.test(received)) throw new Error(`wire: ${received.slice(0, 40)}`);
    },
  );
}
