import { rmSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { createStoreDir } from '../support/faults/process/process.ts';
import { NO_LOSSES, openDeployment } from '../support/faults/deployment.ts';
import { sendOne } from '../support/faults/sender.ts';
import { fillDisk, onSmallDisk, smallDiskAvailable } from '../support/faults/process/small-disk.ts';
import { until } from '../support/ws/raw-socket.ts';

const LISTS = '{ organizations { nodes { name clinics { totalCount } } } }';

describe.concurrent('a disk', { timeout: 120_000 }, () => {
  it.skipIf(!smallDiskAvailable)(
    'that is full: webhooks are refused and nothing else, until there is room again',
    async () => {
      const storeDir = createStoreDir();
      await using deployment = await openDeployment({ storeDir, under: onSmallDisk(storeDir) });
      const { server, sandbox } = deployment;
      const { sender, settle } = await deployment.load();
      const giveBack = fillDisk(server.pid, storeDir);
      await until(async () => (await sendOne(server.url, sandbox)) === 503);
      for (let i = 0; i < 20; i += 1) expect(await sendOne(server.url, sandbox)).toBe(503);
      const { status, text } = await server.ready();
      expect(status).toBe(503);
      expect(text).toContain('disk is full');
      expect((await server.query(LISTS)).errors).toBeUndefined();
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);

      const failures = server.stdout.filter((line) => line.includes('webhooks could not be kept'));
      expect(failures.length).toBe(1);
      expect(server.stdout.filter((line) => line.includes('STORE_UNAVAILABLE')).length).toBe(1);

      giveBack();
      await sender.more(20);
      expect((await server.ready()).status).toBe(200);
      expect(await settle()).toEqual(NO_LOSSES);
      rmSync(storeDir, { recursive: true, force: true });
    },
  );

  it('that fails ends the process, which acknowledges nothing more', async () => {
    // A write past the limit fails as one to a broken disk does.
    const under = ['prlimit', '--fsize=2000000'];
    const preload = ['test/support/faults/process/throw-on-signal.ts'];
    await using deployment = await openDeployment({ under, preload });
    const { server } = deployment;
    const { settle } = await deployment.load();
    expect((await server.exited).code).toBe(1);
    expect(server.stdout.join('\n')).toContain('the event store stopped: disk I/O error');
    await deployment.start({ under: [] });
    expect(await settle()).toEqual(NO_LOSSES);
  });
});
