import { once } from 'node:events';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Sandbox, openSandbox } from '../../../sandbox/sandbox.ts';
import { freePort } from '../../support/free-port.ts';
import { ownMounts } from '../../support/faults/process/own-mounts.ts';
import { createStoreDir, runToEnd, startServer } from '../../support/faults/process/process.ts';
import { openScene } from '../../support/faults/scene.ts';
import { QUIET } from '../../support/gateway.ts';
import { redisAvailable, startRedis } from '../../support/redis-server.ts';
import { until } from '../../support/ws/raw-socket.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ switches: QUIET });
});
afterAll(() => sandbox.close());

/** What it says when it can't start: lines on stderr, and exit code 1. */
async function refusal(
  env: Record<string, string>,
  storeDir?: string,
  under: readonly string[] = [],
): Promise<string> {
  const { code, stderr } = await runToEnd({ sandbox, env, under, ...(storeDir && { storeDir }) });
  expect(code).toBe(1);
  expect(stderr).not.toMatch(/\n\s+at |node:|Error:/);
  return stderr.trimEnd();
}

const RULES = { timeout: 60_000 };

describe.concurrent(
  'a start that can’t succeed says why in one line and ends with 1',
  RULES,
  () => {
    it('a port that is taken', async () => {
      const holder = createServer().listen(0, '127.0.0.1');
      await once(holder, 'listening');
      const { port } = holder.address() as AddressInfo;
      expect(await refusal({ PORT: String(port) })).toBe(
        `Port ${port} is taken by another process: stop it, or set PORT to a free one.`,
      );
      holder.close();
    });

    it('a base URL without its version', async () => {
      expect(await refusal({ PARTNER_BASE_URL: 'https://api.example.com/v1' })).toBe(
        'Configuration refused:\n- PARTNER_BASE_URL must end in /v2, but its path ends in "/v1"',
      );
    });

    it('half a set of credentials', async () => {
      expect(await refusal({ PARTNER_API_KEY: '' })).toContain('PARTNER_API_KEY must be set when');
    });

    it('a Redis that is not there', async () => {
      const url = `redis://:hunter2@127.0.0.1:${await freePort()}`;
      expect(await refusal({ REDIS_URL: url })).toBe(
        'Redis, as REDIS_URL names it, cannot be reached: ECONNREFUSED',
      );
    });

    it.skipIf(!redisAvailable)('a Redis that wants another password', async () => {
      await using redis = await startRedis('--requirepass', 'correct');
      const url = `redis://:hunter2@127.0.0.1:${redis.port}`;
      expect(await refusal({ REDIS_URL: url })).toBe(
        'Redis, as REDIS_URL names it, cannot be reached: WRONGPASS',
      );
    });

    it('a store that another process has, and one that is no database', async () => {
      await using scene = await openScene();
      expect(await refusal({}, scene.storeDir)).toContain('is in use by another process');
      const storeDir = createStoreDir();
      writeFileSync(join(storeDir, 'events.db'), 'not a database'.repeat(100));
      expect(await refusal({}, storeDir)).toContain('cannot be opened as event store');
      rmSync(storeDir, { recursive: true });
    });

    it('a store directory that is a file', async () => {
      const parent = createStoreDir();
      const file = join(parent, 'file');
      writeFileSync(file, '');
      for (const dir of [file, join(file, 'below')])
        expect(await refusal({}, dir)).toBe(
          `${dir} is a file, or lies below one, and must be a directory: remove the file, or set EVENT_STORE_DIR to another directory`,
        );
      rmSync(parent, { recursive: true });
    });

    it('a store directory without permission', async () => {
      const parent = createStoreDir();
      const dir = join(parent, 'closed');
      mkdirSync(dir, { mode: 0o555 });
      chmodSync(parent, 0o755);
      // Root may write everywhere.
      const nobody = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--clear-groups'] : [];
      for (const at of [dir, join(dir, 'new')])
        expect(await refusal({}, at, nobody)).toBe(
          `${at} can't be created or written to by this user: change the owner or the mode of the directory and its files, or set EVENT_STORE_DIR to another directory`,
        );
      rmSync(parent, { recursive: true });
    });

    it.skipIf(!ownMounts)('a store directory on a read-only file system', async () => {
      const dir = createStoreDir();
      const mount = 'mount -t tmpfs -o ro tmpfs "$0" && exec "$@"';
      const under = [...(ownMounts ?? []), 'sh', '-c', mount, dir];
      expect(await refusal({}, dir, under)).toBe(
        `${dir} is on a read-only file system: mount it for writing, or set EVENT_STORE_DIR to another directory`,
      );
      rmSync(dir, { recursive: true });
    });

    it('a production process without a Partner API, unless the sandbox is wanted', async () => {
      const env = { NODE_ENV: 'production' };
      const { code, stderr } = await runToEnd({ env });
      expect(code).toBe(1);
      expect(stderr).toContain('SANDBOX=on for made-up patients, but neither is');
      await using server = await startServer({ env: { ...env, SANDBOX: 'on' } });
      expect((await server.ready()).status).toBe(200);
    });
  },
);

describe.concurrent('a start that may yet succeed', RULES, () => {
  it('with a mistyped variable: a warning names the nearest one', async () => {
    await using server = await startServer({ sandbox, env: { LIMIT_DEPHT: '3' } });
    expect(server.stdout.join('\n')).toContain(
      '"LIMIT_DEPHT is not a known variable. Did you mean LIMIT_DEPTH?"',
    );
  });

  it('with a Partner API that is away or refuses: alive, not ready, and it says which', async () => {
    const port = await freePort();
    const away = { PARTNER_BASE_URL: `http://127.0.0.1:${port}/v2` };
    await using server = await startServer({ sandbox, env: away });
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    expect(await server.ready()).toMatchObject({ status: 503 });
    const { errors } = await server.query('{ organizations { totalCount } }');
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
    const back = await openSandbox({ port, switches: QUIET });
    await until(async () => (await server.ready()).status === 200);
    await back.close();
  });

  it('with credentials that are wrong', async () => {
    const env = { PARTNER_CLIENT_SECRET: 'not-the-secret-at-all' };
    await using server = await startServer({ sandbox, env });
    const { status, text } = await server.ready();
    expect(status).toBe(503);
    expect(JSON.parse(text).checks.partner).toContain('the credentials were refused');
    expect([...server.stdout, text].join('\n')).not.toContain('not-the-secret');
  });
});
