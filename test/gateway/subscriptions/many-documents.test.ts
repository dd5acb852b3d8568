import { randomUUID } from 'node:crypto';

import { expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';

import { openGateway } from '../../support/gateway.ts';
import { clientOf } from '../../support/ws/graphql-client.ts';
import { gauge, until } from '../../support/ws/raw-socket.ts';

const [SOCKETS, PER_SOCKET, SCORES] = [4, 50, 5];

/** The most messages that are sent in one turn of the event loop, from now on. */
function mostSentInATurn(): () => number {
  let [most, sent] = [0, 0];
  const { send } = WebSocket.prototype;
  vi.spyOn(WebSocket.prototype, 'send').mockImplementation(function (this: WebSocket, ...args) {
    if (sent === 0) setImmediate(() => (sent = 0));
    sent += 1;
    most = Math.max(most, sent);
    send.apply(this, args);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  return () => most;
}

it('one webhook for hundreds of different subscriptions does not stop the server', async () => {
  await using gateway = await openGateway();
  let received = 0;
  const sink = { next: () => void (received += 1), error: () => undefined, complete: () => {} };
  const clients = Array.from({ length: SOCKETS }, () => clientOf(gateway));
  clients.forEach((client, i) => {
    for (let n = 0; n < PER_SOCKET; n += 1)
      client.subscribe({ query: `subscription { events { cursor d${i}x${n}: type } }` }, sink);
  });
  const wanted = SOCKETS * PER_SOCKET;
  await until(async () => (await gauge(gateway, 'gateway_subscriptions')) === wanted);
  const most = mostSentInATurn();
  gateway.sandbox.emit({
    eventType: 'assessment_completed',
    timeStamp: new Date().toISOString(),
    payload: {
      patientId: gateway.sandbox.ids.client(0),
      assessmentScores: Array.from({ length: SCORES }, () => ({
        id: randomUUID(),
        assessmentId: 'phq9',
      })),
    },
  });
  await until(() => received === wanted * SCORES);
  for (const client of clients) await client.dispose();
  // 64: the executions of two turns, of 32 each. All 1,000 if they start at once.
  expect(most()).toBeLessThan(200);
});
