import { describe, expect, it } from 'vitest';

import { NOTHING_AMISS, type Scene, openScene } from '../../support/faults/scene.ts';
import { redisAvailable, startRedis } from '../../support/redis-server.ts';

const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 2);
/** At least so many are acknowledged between two kills, so that each comes at another moment. */
const EVENTS = 40;

/** Kills the server over and over, and holds the log and a subscriber against what was acknowledged. */
async function survivesKills(scene: Scene, harm = async () => {}) {
  const { sender, follower, settle } = await scene.load();
  for (let round = 0; round < ROUNDS; round += 1) {
    await sender.more(EVENTS + Math.floor(Math.random() * EVENTS));
    await Promise.all([harm(), scene.server.kill()]);
    await scene.start();
  }
  await sender.more(EVENTS);
  expect(await settle()).toEqual(NOTHING_AMISS);
  expect(follower.connections).toBeGreaterThan(ROUNDS);
}

describe.concurrent('killed under load', { timeout: 120_000 + ROUNDS * 10_000 }, () => {
  it('the embedded log has every acknowledged event once, and so has a subscriber', async () => {
    await using scene = await openScene();
    await survivesKills(scene);
  });

  it.skipIf(!redisAvailable)('so it is on Redis, killed at the same moments', async () => {
    await using redis = await startRedis();
    await using scene = await openScene({ env: { REDIS_URL: redis.url } });
    await survivesKills(scene, async () => {
      await redis.kill();
      await redis.start();
    });
  });
});
