import { describe, expect, it } from 'vitest';

import { openDeployment } from '../support/faults/deployment.ts';
import { sendOne } from '../support/faults/sender.ts';
import { type Gateway, openGateway } from '../support/gateway.ts';
import { until } from '../support/ws/raw-socket.ts';

const SESSIONS = 'query($id: ID!) { client(id: $id) { sessions(first: 5) { totalCount } } }';

/** One call each, none of which can be answered from the cache. */
async function askForSessions(
  { query, sandbox }: Pick<Gateway, 'query' | 'sandbox'>,
  from: number,
  count: number,
) {
  const answers = [];
  for (let at = from; at < from + count; at += 20) {
    const some = Array.from({ length: 20 }, async (_, i) =>
      query(SESSIONS, { id: sandbox.ids.client(at + i) }),
    );
    answers.push(...(await Promise.all(some)));
  }
  return answers;
}

const SESSION_LIST = 'GET /clients/:clientId/sessions';

describe.concurrent('with a failing Partner API', { timeout: 120_000 }, () => {
  it('makes at most a tenth more calls when a third of them fail', async () => {
    await using gateway = await openGateway();
    const { sandbox } = gateway;
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    sandbox.set({ failureRate: 0.3 });
    sandbox.resetCounts();
    const firstBegan = performance.now();
    await askForSessions(gateway, 0, 200);
    const earned = (performance.now() - firstBegan) / 2_000;
    expect(sandbox.countOf(SESSION_LIST)).toBeLessThanOrEqual(200 * 1.2 + earned);
    // The initial budget is used up: a tenth is left, and one every two seconds. Fractions may add up to two more.
    sandbox.resetCounts();
    const began = performance.now();
    await askForSessions(gateway, 200, 200);
    const allowed = 200 * 1.1 + (performance.now() - began) / 2_000 + 2;
    expect(sandbox.countOf(SESSION_LIST)).toBeLessThanOrEqual(allowed);
    sandbox.set({ failureRate: 0 });
    await until(async () =>
      (await askForSessions(gateway, 400, 20)).every(({ errors }) => !errors),
    );
  });

  it('sends one probe every two seconds during an outage, and calls again afterwards', async () => {
    await using gateway = await openGateway();
    const { sandbox } = gateway;
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    sandbox.set({ failureRate: 1 });
    await askForSessions(gateway, 0, 60);
    sandbox.resetCounts();
    const began = performance.now();
    const answers = await askForSessions(gateway, 60, 100);
    const probes = 1 + Math.ceil((performance.now() - began) / 2_000);
    expect(new Set(answers.map(({ errors }) => errors?.[0]?.extensions.code))).toEqual(
      new Set(['UPSTREAM_UNAVAILABLE']),
    );
    expect(sandbox.countOf(SESSION_LIST)).toBeLessThanOrEqual(probes);
    expect(await sendOne(gateway.url, sandbox)).toBe(200);
    sandbox.set({ failureRate: 0 });
    await until(async () =>
      (await askForSessions(gateway, 160, 20)).every(({ errors }) => !errors),
    );
  });

  it('delays neither webhooks nor subscribers while calls hang, and keeps to the limit of calls', async () => {
    await using deployment = await openDeployment({
      // Calls hang for as long as they may: after ten that failed, no other would be sent.
      env: { PARTNER_MAX_CONCURRENCY: '16', PARTNER_TIMEOUT_MS: '15000' },
    });
    const { sandbox, server } = deployment;
    expect((await server.ready()).status).toBe(200);
    sandbox.set({ latencyMs: 30_000 });
    const stuck = askForSessions({ sandbox, query: server.query }, 0, 20).catch(() => []);
    await until(() => sandbox.mostAtOnce() >= 16);
    const { sender, settle } = await deployment.load();
    await sender.more(100);
    expect(sender.refusals).toBe(0);
    expect(sandbox.mostAtOnce()).toBe(16);
    expect(await settle()).toMatchObject({ received: { lost: 0, repeated: 0 } });
    await deployment.server.kill();
    await stuck;
  });
});
