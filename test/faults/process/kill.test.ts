import { describe, expect, it } from 'vitest';

import { NO_LOSSES, type Deployment, openDeployment } from '../../support/faults/deployment.ts';
import { redisAvailable, startRedis } from '../../support/redis-server.ts';

const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 1);
/** Fewest events that are acknowledged between two kills. */
const EVENTS = 40;

/** Kills the server repeatedly, and compares the log and a subscriber with the acknowledged events. */
async function survivesKills(deployment: Deployment, fault = async () => {}) {
  const { sender, follower, settle } = await deployment.load();
  for (let round = 0; round < ROUNDS; round += 1) {
    await sender.more(EVENTS + Math.floor(Math.random() * EVENTS));
    await Promise.all([fault(), deployment.server.kill()]);
    await deployment.start();
  }
  await sender.more(EVENTS);
  expect(await settle()).toEqual(NO_LOSSES);
  expect(follower.connections).toBeGreaterThan(ROUNDS);
}

describe.concurrent(
  'a server that is killed under load',
  { timeout: 120_000 + ROUNDS * 10_000 },
  () => {
    it('stores and delivers every acknowledged event once, with the embedded log', async () => {
      await using deployment = await openDeployment();
      await survivesKills(deployment);
    });

    it.skipIf(!redisAvailable)(
      'stores and delivers every acknowledged event once, with Redis killed at the same moments',
      async () => {
        await using redis = await startRedis();
        await using deployment = await openDeployment({ env: { REDIS_URL: redis.url } });
        await survivesKills(deployment, async () => {
          await redis.kill();
          await redis.start();
        });
      },
    );
  },
);
