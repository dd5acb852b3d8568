import { describe, expect, it } from 'vitest';

import { NO_LOSSES, type Deployment, openDeployment } from '../support/faults/deployment.ts';
import { sendOne } from '../support/faults/sender.ts';
import {
  otherThreadsOf,
  slowDisk,
  slowDiskAvailable,
} from '../support/faults/process/slow-disk.ts';
import { tokenFor, post } from '../support/gateway.ts';
import { redisAvailable, startRedis } from '../support/redis-server.ts';

const SESSIONS = 'query($id: ID!) { client(id: $id) { sessions(first: 5) { totalCount } } }';

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Each webhook waits for the disk, and not for the webhooks before it. */
async function expectGroups({ server, sandbox }: Deployment, lateMs: number): Promise<void> {
  const acknowledged = async () => expect(await sendOne(server.url, sandbox)).toBe(200);
  const times = await Promise.all(Array.from({ length: 100 }, () => timed(acknowledged)));
  expect(Math.min(...times)).toBeGreaterThan(lateMs * 0.95);
  expect(Math.max(...times)).toBeLessThan(lateMs * 20);
}

/** The times of ten queries in sequence, none of which can be answered from a cache. */
async function askTen({ server, sandbox }: Deployment): Promise<readonly number[]> {
  const times: number[] = [];
  for (let n = 0; n < 10; n += 1) {
    const ask = async () => {
      const { errors } = await server.query(SESSIONS, { id: sandbox.ids.client(n) });
      expect(errors).toBeUndefined();
    };
    times.push(await timed(ask));
  }
  return times;
}

describe.skipIf(!slowDiskAvailable).concurrent('a disk that is slow', { timeout: 120_000 }, () => {
  it('delays webhooks until they are written, and no query', async () => {
    const lateMs = 1_000;
    await using deployment = await openDeployment();
    const { server, sandbox } = deployment;
    const { sender, settle } = await deployment.load();
    await using disk = await slowDisk(otherThreadsOf(server.pid), lateMs);
    const groups = expectGroups(deployment, lateMs);
    // A query that waited for the disk would take at least `lateMs`.
    expect(Math.min(...(await askTen(deployment)))).toBeLessThan(lateMs / 2);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    // This query reads the client's places from the store, and is answered after a wait.
    const authorization = `Bearer ${await tokenFor([`clinic:${sandbox.ids.clinic(0)}`])}`;
    const query = `{ client(id: "${sandbox.ids.client(0)}") { clientId } }`;
    expect((await post(server.url, { query }, { authorization })).errors).toBeUndefined();
    await groups;
    expect(sender.refusals).toBe(0);

    await server.kill();
    await disk.recover();
    await deployment.start();
    expect(await timed(() => sender.more(40))).toBeLessThan(10_000);
    expect(await settle()).toEqual(NO_LOSSES);
  });

  it.skipIf(!redisAvailable)('delays webhooks on Redis too, and nothing is lost', async () => {
    const lateMs = 500;
    await using redis = await startRedis();
    await using deployment = await openDeployment({ env: { REDIS_URL: redis.url } });
    const { sender, settle } = await deployment.load();
    await using disk = await slowDisk([redis.pid], lateMs);
    const groups = expectGroups(deployment, lateMs);
    await askTen(deployment);
    await groups;

    await redis.kill();
    await disk.recover();
    await redis.start();
    expect(await timed(() => sender.more(40))).toBeLessThan(10_000);
    expect(await settle()).toEqual(NO_LOSSES);
  });
});
