import { setTimeout as delay } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { lossesIn, logged } from '../support/faults/losses.ts';
import { openRelay } from '../support/faults/relay.ts';
import { type Load, type Deployment, openDeployment } from '../support/faults/deployment.ts';
import { sendOne } from '../support/faults/sender.ts';
import { startSentinel } from '../support/faults/sentinel.ts';
import { type RedisServer, redisAvailable, startRedis } from '../support/redis-server.ts';
import { until } from '../support/ws/raw-socket.ts';

const ROUNDS = Number(process.env['FAILOVER_ROUNDS'] ?? 1);
/** It takes five seconds on an idle machine. */
const FOUND_MS = 15_000;
const AT_ONCE = ['--repl-diskless-sync-delay', '0'];
const EVENTS = '{partner-graph}:events';

const replicaOf = (port: number) => startRedis(...AT_ONCE, '--replicaof', `127.0.0.1 ${port}`);

const replicasOnline = (primary: RedisServer, count: number) =>
  until(() => [...primary.cli('INFO', 'replication').matchAll(/state=online/g)].length === count);

const lengthIn = (redis: RedisServer) => Number(redis.cli('XLEN', EVENTS));

const urlBehind = ({ port }: { readonly port: number }) => `redis://127.0.0.1:${port}`;

/**
 * Every acknowledged event must be in the log once. A subscriber may have received events that only the old primary had:
 * it then gets EVENTS_EXPIRED, and reads the log from the beginning.
 */
async function expectNothingLost({ server }: Deployment, { sender, follower }: Load) {
  await sender.stop();
  const { acknowledged } = sender;
  await follower.receives(acknowledged);
  follower.close();
  // One event may have come through before all connections have found the new primary.
  await until(async () => (await server.ready()).status === 200);
  expect(lossesIn(acknowledged, await logged(server.query))).toEqual({ lost: 0, repeated: 0 });
  const codes = new Set(follower.codes);
  expect([...codes].filter((code) => code !== 'EVENTS_EXPIRED')).toEqual([]);
}

describe
  .skipIf(!redisAvailable)
  .concurrent('a failover of Redis', { timeout: 120_000 + ROUNDS * 30_000 }, () => {
    it('by Sentinel loses no acknowledged event, and the gateway finds the new primary', async () => {
      await using primary = await startRedis(...AT_ONCE);
      await using first = await replicaOf(primary.port);
      await using second = await replicaOf(primary.port);
      await replicasOnline(primary, 2);
      await using sentinel = await startSentinel(primary.port, 2);
      // The first Sentinel is gone, as one on the primary's own machine would be.
      const env = { REDIS_URL: `redis+sentinel://127.0.0.1:1,127.0.0.1:${sentinel.port}/main` };
      await using deployment = await openDeployment({ env });
      const load = await deployment.load();
      for (let round = 0; round < ROUNDS; round += 1) {
        const servers = [primary, first, second];
        const killed = servers.find(({ port }) => port === sentinel.primary());
        await killed!.kill();
        await load.sender.more(40);
        if (round === ROUNDS - 1) break;
        // It starts as a primary until Sentinel makes it a replica.
        await killed!.start();
        await replicasOnline(
          servers.find(({ port }) => port === sentinel.primary())!,
          2,
        );
      }
      expect(sentinel.primary()).not.toBe(primary.port);
      await expectNothingLost(deployment, load);
    });

    it('in a partition: the gateway acknowledges nothing until its name resolves to the new primary', async () => {
      await using primary = await startRedis(...AT_ONCE);
      await using link = await openRelay(primary.port);
      await using replica = await replicaOf(link.port);
      await using another = await startRedis(...AT_ONCE);
      await replicasOnline(primary, 1);
      await using name = await openRelay(primary.port);
      await using deployment = await openDeployment({ env: { REDIS_URL: urlBehind(name) } });
      const { server, sandbox } = deployment;
      const load = await deployment.load();

      link.stall();
      await until(async () => (await sendOne(server.url, sandbox)) === 503);
      const acknowledged = load.sender.acknowledged.size;
      const began = performance.now();
      expect(await sendOne(server.url, sandbox)).toBe(503);
      expect(performance.now() - began).toBeLessThan(FOUND_MS);
      await until(async () =>
        (await server.ready()).text.includes('0 of 1 Redis replicas confirmed'),
      );
      // What was under way when the link stalled may have reached the replica; what came later has not.
      await until(() => lengthIn(primary) > Math.max(acknowledged, lengthIn(replica)));

      link.cut();
      replica.cli('REPLICAOF', 'NO', 'ONE');
      expect(lengthIn(replica)).toBeLessThan(lengthIn(primary));
      another.cli('REPLICAOF', '127.0.0.1', String(replica.port));
      await replicasOnline(replica, 1);
      expect(load.sender.acknowledged.size).toBe(acknowledged);

      // The old primary's connections stay open: it still answers, and still accepts writes.
      name.redirectTo(replica.port);
      const moved = performance.now();
      await load.sender.more(1);
      expect(performance.now() - moved).toBeLessThan(FOUND_MS);
      await load.sender.more(40);
      await expectNothingLost(deployment, load);
      expect(load.follower.codes).toContain('EVENTS_EXPIRED');
    });

    it('by demotion: the gateway answers 503 until it finds the new primary', async () => {
      await using primary = await startRedis(...AT_ONCE);
      await using replica = await replicaOf(primary.port);
      await using another = await replicaOf(replica.port);
      await replicasOnline(primary, 1);
      await replicasOnline(replica, 1);
      await using name = await openRelay(primary.port);
      await using deployment = await openDeployment({ env: { REDIS_URL: urlBehind(name) } });
      const { server, sandbox } = deployment;
      const load = await deployment.load();

      replica.cli('REPLICAOF', 'NO', 'ONE');
      primary.cli('REPLICAOF', '127.0.0.1', '1');
      await until(async () => (await sendOne(server.url, sandbox)) === 503);
      await until(async () => (await server.ready()).text.includes('READONLY'));
      // Writes that a replica had confirmed before are answered within a second.
      await delay(1_100);
      const acknowledged = load.sender.acknowledged.size;
      expect((await server.query('{ organizations { totalCount } }')).errors).toBeUndefined();
      expect(await sendOne(server.url, sandbox)).toBe(503);
      expect(load.sender.acknowledged.size).toBe(acknowledged);

      name.redirectTo(replica.port);
      const moved = performance.now();
      await until(async () => (await sendOne(server.url, sandbox)) === 200);
      expect(performance.now() - moved).toBeLessThan(FOUND_MS);
      await load.sender.more(50);
      await expectNothingLost(deployment, load);
      await until(() => lengthIn(another) === lengthIn(replica));
    });
  });
