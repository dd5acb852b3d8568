import type { WebSocket } from 'ws';
import { expect, it } from 'vitest';

import type { GatewayParts } from '../../../src/gateway/gateway.ts';
import { WsConnection } from '../../../src/gateway/websocket/connection.ts';

/** A socket on a slow link: a message is sent when a test says so. Loopback never buffers enough for that. */
function slowSocket() {
  const queue: (() => void)[] = [];
  const sent: string[] = [];
  const send = (data: unknown, ...rest: unknown[]) =>
    queue.push(() => {
      sent.push(String(data));
      const last = rest.at(-1);
      if (typeof last === 'function') last();
    });
  const ws = {
    send,
    ping: () => undefined,
    close: () => undefined,
    get bufferedAmount() {
      return queue.length;
    },
  };
  return { ws: ws as unknown as WebSocket, sent, sendNext: () => queue.shift()?.() };
}

it('sends the events that wait, also after other messages were buffered', () => {
  const { ws, sent, sendNext } = slowSocket();
  const limits = { socketQueueEvents: 256, socketQueueBytes: 1_048_576 };
  const parts = { config: { limits }, connections: { pingEveryMs: 60_000 } };
  const connection = new WsConnection(ws, 'x', parts as unknown as GatewayParts);
  void connection.deliver('1');
  void connection.deliver('2');
  connection.send('result');
  void connection.deliver('3');
  for (let message = 0; message < 3; message += 1) sendNext();
  sendNext();
  expect(sent).toEqual(['1', '2', 'result', '3']);
});
