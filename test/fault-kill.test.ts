import { rmSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Sandbox, openSandbox } from '../src/sandbox/sandbox.ts';
import { follow } from './faults/follower.ts';
import { NOTHING_AMISS, account, cursorNow, logged } from './faults/ledger.ts';
import { type ServerProcess, createStoreDir, startServer } from './faults/process.ts';
import { startSender } from './faults/sender.ts';
import { QUIET, tokenFor } from './gateway.ts';
import { redisAvailable, startRedis } from './redis-server.ts';

const ROUNDS = 4;
/** At least so many are acknowledged between two kills. */
const EVENTS = 150;

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ switches: QUIET });
});
afterAll(() => sandbox.close());

/** Kills the server over and over under load, and holds the log and a follower against what was acknowledged. */
async function survives(start: () => Promise<ServerProcess>, harm = async () => {}) {
  let server = await start();
  const url = () => server.url;
  const after = await cursorNow(server.query);
  const follower = follow({ url, after, token: await tokenFor(['partner']) });
  const sender = startSender({ url, sandbox });
  for (let round = 0; round < ROUNDS; round += 1) {
    await sender.more(EVENTS + Math.floor(Math.random() * EVENTS));
    await Promise.all([harm(), server.kill()]);
    server = await start();
  }
  await sender.more(EVENTS);
  await sender.stop();
  await follower.hears(sender.acknowledged);
  follower.close();
  expect(follower.codes).toEqual([]);
  expect(follower.connections).toBeGreaterThan(ROUNDS);
  expect(account(sender.acknowledged, await logged(server.query, after))).toEqual(NOTHING_AMISS);
  expect(account(sender.acknowledged, follower.heard)).toEqual(NOTHING_AMISS);
  await server.kill();
}

describe.concurrent('killed under load', { timeout: 120_000 }, () => {
  it('the embedded log has every acknowledged event once, and so has a subscriber', async () => {
    const storeDir = createStoreDir();
    await survives(() => startServer({ sandbox, storeDir }));
    rmSync(storeDir, { recursive: true, force: true });
  });

  it.skipIf(!redisAvailable)('so it is on Redis, killed itself', async () => {
    await using redis = await startRedis();
    const env = { REDIS_URL: redis.url };
    await survives(
      () => startServer({ sandbox, env }),
      async () => {
        await redis.kill();
        await redis.start();
      },
    );
  });
});
