import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { expect, it } from 'vitest';

import { openGateway } from '../../support/gateway.ts';
import { clientOf } from '../../support/ws/graphql-client.ts';
import { gauge, until } from '../../support/ws/raw-socket.ts';

const [SOCKETS, PER_SOCKET, SCORES] = [6, 50, 50];

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
  using delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
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
  delay.disable();
  for (const client of clients) await client.dispose();
  // 40 ms on an idle machine, and 1,500 if all executions start at once.
  expect(delay.max / 1e6).toBeLessThan(750);
});
