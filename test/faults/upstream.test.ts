import { describe, expect, it } from 'vitest';

import { type Scene, openScene } from '../support/faults/scene.ts';
import { sendOne } from '../support/faults/sender.ts';
import { until } from '../support/ws/raw-socket.ts';

const SESSIONS = 'query($id: ID!) { client(id: $id) { sessions(first: 5) { totalCount } } }';

/** One call each, none of which can be answered from the cache. */
async function askForSessions({ server, sandbox }: Scene, from: number, count: number) {
  const answers = [];
  for (let at = from; at < from + count; at += 20) {
    const some = Array.from({ length: 20 }, async (_, i) =>
      server.query(SESSIONS, { id: sandbox.ids.client(at + i) }),
    );
    answers.push(...(await Promise.all(some)));
  }
  return answers;
}

const SESSION_LIST = 'GET /clients/:clientId/sessions';

describe.concurrent('a Partner API', { timeout: 90_000 }, () => {
  it.each([0.5, 0.3])(
    'that fails %d of the time is asked a tenth as often again at most',
    async (failureRate) => {
      await using scene = await openScene();
      const { sandbox } = scene;
      expect((await scene.server.ready()).status).toBe(200);
      sandbox.set({ failureRate });
      sandbox.resetCounts();
      await askForSessions(scene, 0, 200);
      expect(sandbox.countOf(SESSION_LIST) / 200).toBeLessThanOrEqual(1.2);
      // Past what was saved up in good times: a tenth, and one every two seconds. What was left of one, and what came in
      // since the last retry before, may make two more.
      sandbox.resetCounts();
      const began = performance.now();
      await askForSessions(scene, 200, 400);
      const allowed = 400 * 1.1 + (performance.now() - began) / 2_000 + 2;
      expect(sandbox.countOf(SESSION_LIST)).toBeLessThanOrEqual(allowed);
      sandbox.set({ failureRate: 0 });
      await until(async () =>
        (await askForSessions(scene, 600, 20)).every(({ errors }) => !errors),
      );
    },
  );

  it('that is down is not asked over and over, and is found again by itself', async () => {
    await using scene = await openScene();
    const { sandbox, server } = scene;
    expect((await server.ready()).status).toBe(200);
    sandbox.set({ failureRate: 1 });
    await askForSessions(scene, 0, 60);
    sandbox.resetCounts();
    const began = performance.now();
    const answers = await askForSessions(scene, 60, 200);
    const probes = 1 + Math.ceil((performance.now() - began) / 2_000);
    expect(new Set(answers.map(({ errors }) => errors?.[0]?.extensions.code))).toEqual(
      new Set(['UPSTREAM_UNAVAILABLE']),
    );
    expect(sandbox.countOf(SESSION_LIST)).toBeLessThanOrEqual(probes);
    expect(await sendOne(server.url, sandbox)).toBe(200);
    sandbox.set({ failureRate: 0 });
    await until(async () => (await askForSessions(scene, 260, 20)).every(({ errors }) => !errors));
  });

  it('that hangs holds up neither webhooks nor subscribers, and no more calls than allowed', async () => {
    await using scene = await openScene({
      env: { PARTNER_MAX_CONCURRENCY: '16' },
    });
    const { sandbox, server } = scene;
    expect((await server.ready()).status).toBe(200);
    sandbox.set({ latencyMs: 30_000 });
    const stuck = askForSessions(scene, 0, 20).catch(() => []);
    await until(() => sandbox.mostAtOnce() >= 16);
    const { sender, settle } = await scene.load();
    await sender.more(200);
    expect(sender.refusals).toBe(0);
    expect(sandbox.mostAtOnce()).toBe(16);
    expect(await settle()).toMatchObject({ heard: { lost: 0, repeated: 0 } });
    await scene.server.kill();
    await stuck;
  });
});
