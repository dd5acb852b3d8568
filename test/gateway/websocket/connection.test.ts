import type { WebSocket } from 'ws';
import { expect, it, vi } from 'vitest';

import type { GatewayParts } from '../../../src/gateway/gateway.ts';
import { createLimit } from '../../../src/gateway/open-connections.ts';
import { WsConnection, bytesOf } from '../../../src/gateway/websocket/connection.ts';
import { SANDBOX_VIEWER } from '../../../src/viewer/viewer.ts';

/** A socket on a slow link: a message is sent when a test says so. Loopback never buffers enough for that. */
function slowSocket() {
  const queue: (() => void)[] = [];
  const sent: string[] = [];
  let bufferedAmount = 0;
  const send = (data: string | Buffer, ...rest: unknown[]) => {
    bufferedAmount += data.length;
    queue.push(() => {
      bufferedAmount -= data.length;
      sent.push(String(data));
      const last = rest.at(-1);
      if (typeof last === 'function') last();
    });
  };
  const ws = {
    send,
    ping: () => undefined,
    close: () => undefined,
    get bufferedAmount() {
      return bufferedAmount;
    },
  };
  return { ws: ws as unknown as WebSocket, sent, sendNext: () => queue.shift()?.() };
}

function connectionOf(
  ws: WebSocket,
  acquire = () => true,
  unread = createLimit<string>(2 ** 30),
  runningContexts: object[] = [],
) {
  const limits = { socketQueueEvents: 256, socketQueueBytes: 1_048_576 };
  const metrics = { slowConsumerClosed: () => undefined };
  const connections = { pingEveryMs: 60_000, perViewer: { acquire, release() {} }, unread };
  const parts = { config: { limits }, connections, metrics, runningContexts };
  const connection = new WsConnection(ws, 'x', parts as unknown as GatewayParts);
  connection.viewer = SANDBOX_VIEWER;
  return connection;
}

it('sends the events that wait, also after other messages were buffered', () => {
  const { ws, sent, sendNext } = slowSocket();
  const connection = connectionOf(ws);
  connection.deliver('1');
  connection.deliver('2');
  connection.send('result');
  connection.deliver('3');
  for (let message = 0; message < 3; message += 1) sendNext();
  sendNext();
  expect(sent).toEqual(['1', '2', 'result', '3']);
});

it('makes the bytes of a large event when its turn has come, not for all receivers before', () => {
  expect(bytesOf('ü'.repeat(65_536))).toBeUndefined();
  expect(bytesOf('ü'.repeat(65_535))).toHaveLength(131_070);
});

it('sends events after a large result', () => {
  const { ws, sent, sendNext } = slowSocket();
  const connection = connectionOf(ws);
  const result = 'ü'.repeat(2 * 2 ** 20);
  connection.send(result);
  for (const event of ['1', '2', '3']) connection.deliver(event);
  for (let message = 0; message < 4; message += 1) sendNext();
  expect(sent).toEqual([result, '1', '2', '3']);
});

it('sends no event that waits once the token has expired, and still sends results', () => {
  const { ws, sent, sendNext } = slowSocket();
  const connection = connectionOf(ws);
  for (const event of ['1', '2', '3']) connection.deliver(event);
  connection.viewer = { ...SANDBOX_VIEWER, expiresAt: Date.now() };
  connection.send('result');
  for (let message = 0; message < 4; message += 1) sendNext();
  expect(sent).toEqual(['1', '2', 'result']);
});

it('closes when results pile up', () => {
  const { ws } = slowSocket();
  const connection = connectionOf(ws);
  const result = 'x'.repeat(2 * 2 ** 20);
  for (let message = 0; message < 3; message += 1) connection.send(result);
  connection.send('complete');
  expect(connection.isOpen).toBe(true);
  connection.send(result);
  expect(connection.isOpen).toBe(false);
});

it('closes when short messages pile up behind a large result', () => {
  const { ws } = slowSocket();
  const connection = connectionOf(ws);
  connection.send('x'.repeat(5 * 2 ** 20));
  for (let message = 0; message < 256; message += 1) connection.send('pong');
  expect(connection.isOpen).toBe(true);
  connection.send('pong');
  expect(connection.isOpen).toBe(false);
});

it('sends the outcome of a mutation, however much is unread', () => {
  const { ws, sendNext } = slowSocket();
  const unread = createLimit<string>(100_000);
  const connection = connectionOf(ws, undefined, unread);
  const outcome = 'x'.repeat(5 * 2 ** 20);
  connection.send(outcome);
  connection.hasUnsentOutcome = true;
  connection.send(outcome);
  expect(connection.isOpen).toBe(true);
  sendNext();
  sendNext();
  expect(unread.used.size).toBe(0);
});

it('is not closed because of a large result while its viewer’s mutation runs', () => {
  const unread = createLimit<string>(1);
  const { ws } = slowSocket();
  const mutation = { viewer: SANDBOX_VIEWER, operation: { kind: 'mutation' } };
  const connection = connectionOf(ws, undefined, unread, [mutation]);
  connection.running = 1;
  connection.send('x'.repeat(100_000));
  connection.send('x'.repeat(100_000));
  expect(connection.isOpen).toBe(true);
  connection.running = 0;
  connection.send('x'.repeat(100_000));
  expect(connection.isOpen).toBe(false);
});

it('closes before a large result if the viewer has too many unread, until they are sent or the sockets gone', () => {
  const unread = createLimit<string>(100_000);
  const [slow, other] = [slowSocket(), slowSocket()];
  const result = 'x'.repeat(100_000);
  connectionOf(slow.ws, undefined, unread).send(result);
  const second = connectionOf(other.ws, undefined, unread);
  second.send('short');
  expect(second.isOpen).toBe(true);
  second.send(result);
  expect(second.isOpen).toBe(false);
  slow.sendNext();
  expect(unread.used.size).toBe(0);
});

it('closes before a large event if the viewer has too many unread, and counts none that is sent or dropped', () => {
  const unread = createLimit<string>(150_000, 65_536);
  const [slow, other] = [slowSocket(), slowSocket()];
  const event = 'x'.repeat(100_000);
  const first = connectionOf(slow.ws, undefined, unread);
  first.deliver(event);
  first.deliver(event);
  const second = connectionOf(other.ws, undefined, unread);
  second.deliver('short');
  expect(second.isOpen).toBe(true);
  second.deliver(event);
  expect(second.isOpen).toBe(false);
  slow.sendNext();
  expect([...unread.used.values()]).toEqual([event.length]);
  first.deliver(event);
  first.close();
  expect([...unread.used.values()]).toEqual([event.length]);
  slow.sendNext();
  expect(unread.used.size).toBe(0);
});

it('sends many large events at once to a client that reads them', () => {
  const sent: string[] = [];
  const ws = { send: (data: Buffer) => sent.push(String(data)), bufferedAmount: 0 };
  const unread = createLimit<string>(150_000, 65_536);
  const connection = connectionOf(ws as unknown as WebSocket, undefined, unread);
  const events = Array.from({ length: 20 }, (_, n) => `${n}`.repeat(100_000));
  for (const event of events) connection.deliver(event);
  expect(sent).toEqual(events);
  expect([connection.isOpen, connection.backlog, unread.used.size]).toEqual([true, undefined, 0]);
});

it('is busy until a large result is sent, so that a shutdown waits for it', () => {
  const { ws, sendNext } = slowSocket();
  const connection = connectionOf(ws);
  connection.send('x'.repeat(100_000));
  connection.end();
  expect(connection).toMatchObject({ isOpen: false, isBusy: true });
  sendNext();
  expect(connection.isBusy).toBe(false);
});

it('does not count as one of the viewer’s if it has closed while the token was verified', () => {
  const acquire = vi.fn(() => true);
  const connection = connectionOf(slowSocket().ws, acquire);
  connection.viewer = undefined;
  connection.release();
  expect(connection.setViewer(SANDBOX_VIEWER)).toBe(false);
  expect(acquire).not.toHaveBeenCalled();
});
