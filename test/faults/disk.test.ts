import { rmSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createStoreDir } from '../support/faults/process/process.ts';
import { type Deployment, NO_LOSSES, openDeployment } from '../support/faults/deployment.ts';
import { sendOne } from '../support/faults/sender.ts';
import { fillDisk, onSmallDisk, smallDiskAvailable } from '../support/faults/process/small-disk.ts';
import {
  failingDisk,
  otherThreadsOf,
  slowDiskAvailable,
} from '../support/faults/process/slow-disk.ts';
import { until } from '../support/ws/raw-socket.ts';

const LISTS = '{ organizations { nodes { name clinics { totalCount } } } }';

it.skipIf(!smallDiskAvailable)(
  'rejects only webhooks while the disk is full, and accepts them once there is space',
  { timeout: 120_000 },
  async () => {
    const storeDir = createStoreDir();
    await using deployment = await openDeployment({ storeDir, under: onSmallDisk(storeDir) });
    const { server, sandbox } = deployment;
    const { sender, settle } = await deployment.load();
    const freeSpace = fillDisk(server.pid, storeDir);
    await until(async () => (await sendOne(server.url, sandbox)) === 503);
    for (let i = 0; i < 20; i += 1) expect(await sendOne(server.url, sandbox)).toBe(503);
    const { status, text } = await server.ready();
    expect(status).toBe(503);
    expect(text).toContain('disk is full');
    for (const query of [LISTS, '{ events { nodes { cursor } } }'])
      expect((await server.query(query)).errors).toBeUndefined();
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);

    const failures = server.stdout.filter((line) => line.includes('webhooks could not be stored'));
    expect(failures.length).toBe(1);
    expect(failures[0]).toMatch(/"reason":"[^"]*disk is full/);
    expect(server.stdout.filter((line) => line.includes('STORE_UNAVAILABLE')).length).toBe(1);

    freeSpace();
    await sender.more(20);
    expect((await server.ready()).status).toBe(200);
    expect(await settle()).toEqual(NO_LOSSES);
    rmSync(storeDir, { recursive: true, force: true });
  },
);

describe('with a disk that fails', { timeout: 120_000 }, () => {
  let deployment: Deployment;
  beforeAll(async () => {
    // A write past the limit fails as one to a broken disk does.
    const under = ['prlimit', '--fsize=2000000'];
    const preload = ['test/support/faults/process/throw-on-signal.ts'];
    deployment = await openDeployment({ under, preload });
  });
  afterAll(() => deployment[Symbol.asyncDispose]());

  it('acknowledges nothing more after a write failed, and exits', async () => {
    const { server } = deployment;
    const { settle } = await deployment.load();
    expect((await server.exited).code).toBe(1);
    expect(server.stdout.join('\n')).toContain('the event store stopped: disk I/O error');
    await deployment.start({ under: [] });
    expect(await settle()).toEqual(NO_LOSSES);
  });

  it.skipIf(!slowDiskAvailable)(
    'acknowledges nothing that fsync failed for, and exits',
    async () => {
      const { server } = deployment;
      const { settle } = await deployment.load();
      const disk = await failingDisk(otherThreadsOf(server.pid));
      expect((await server.exited).code).toBe(1);
      await disk.recover();
      const fsyncError = 'the event store stopped: disk I/O error (SQLite code 1034)';
      expect(server.stdout.join('\n')).toContain(fsyncError);
      await deployment.start({ under: [] });
      expect(await settle()).toEqual(NO_LOSSES);
    },
  );
});
