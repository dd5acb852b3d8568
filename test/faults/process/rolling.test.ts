import { expect, it } from 'vitest';

import { openSandbox } from '../../../sandbox/sandbox.ts';
import { follow } from '../../support/faults/follower.ts';
import { lossesIn, cursorNow, logged } from '../../support/faults/losses.ts';
import { type ServerProcess, startServer } from '../../support/faults/process/process.ts';
import { startSender } from '../../support/faults/sender.ts';
import { DETERMINISTIC, tokenFor } from '../../support/gateway.ts';
import { redisAvailable, startRedis } from '../../support/redis-server.ts';

const INSTANCES = 2;
/** For more: `FOLLOWERS=1000 npx vitest run test/faults/process/rolling.test.ts`. */
const FOLLOWERS = Number(process.env['FOLLOWERS'] ?? 10);
const NO_LOSSES = { lost: 0, repeated: 0 };

it.skipIf(!redisAvailable)(
  'delivers every event once to every subscriber while instances are replaced one by one',
  { timeout: 90_000 + FOLLOWERS * 300 },
  async () => {
    await using redis = await startRedis();
    const sandbox = await openSandbox({ switches: DETERMINISTIC });
    const start = () =>
      startServer({ sandbox, env: { REDIS_URL: redis.url, LIMIT_SOCKETS_PER_VIEWER: '10000' } });
    const servers = await Promise.all(Array.from({ length: INSTANCES }, start));
    const query: ServerProcess['query'] = (...args) => servers[0]!.query(...args);
    // Round robin, whether the instance is up or not.
    let turn = 0;
    const url = () => servers[(turn += 1) % INSTANCES]!.url;
    const after = await cursorNow(query);
    const token = await tokenFor(['partner']);
    const followers = Array.from({ length: FOLLOWERS }, () => follow({ url, after, token }));
    const sender = startSender({ url, sandbox });

    for (const [at, server] of servers.entries()) {
      await sender.more(40);
      server.signal('SIGTERM');
      expect((await server.exited).code).toBe(0);
      servers[at] = await start();
    }
    await sender.more(40);
    await sender.stop();

    const { acknowledged } = sender;
    await Promise.all(followers.map(async (follower) => follower.receives(acknowledged)));
    for (const { close, received, closeCodes, codes } of followers) {
      close();
      expect(lossesIn(acknowledged, received)).toEqual(NO_LOSSES);
      expect(codes).toEqual([]);
      expect(closeCodes).not.toContain(1011);
    }
    expect(lossesIn(acknowledged, await logged(query, after))).toEqual(NO_LOSSES);
    await Promise.all(servers.map(async (server) => server.kill()));
    await sandbox.close();
  },
);
