import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Sandbox, openSandbox } from '../../../sandbox/sandbox.ts';
import { ownMounts } from '../../support/faults/process/own-mounts.ts';
import { createStoreDir, environmentOf, runToEnd } from '../../support/faults/process/process.ts';
import { freePort } from '../../support/free-port.ts';
import { DETERMINISTIC, openGateway } from '../../support/gateway.ts';
import { until } from '../../support/ws/raw-socket.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ switches: DETERMINISTIC });
});
afterAll(() => sandbox.close());

/** What a process writes to stderr if its start fails. */
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

/** What a process that opens only the store writes to stderr: it starts much faster than the server. */
async function storeRefusal(dir: string, under: readonly string[]): Promise<string> {
  const child = fileURLToPath(new URL('../../support/store/append-child.ts', import.meta.url));
  const [program, ...args] = [...under, process.execPath, child, '', dir, 'key'];
  return promisify(execFile)(program, args, { timeout: 50_000, killSignal: 'SIGKILL' }).then(
    () => 'it started',
    ({ stderr }: { readonly stderr: string }) => stderr,
  );
}

// Other messages are tested in test/config.test.ts, test/server.test.ts and test/store.
describe.concurrent('a start that fails exits with 1', { timeout: 120_000 }, () => {
  it('and says what is wrong with the configuration', async () => {
    expect(await refusal({ PARTNER_BASE_URL: 'https://api.example.com/v1' })).toBe(
      'Configuration refused:\n- PARTNER_BASE_URL must end in /v2, but does not',
    );
  });

  it('and lists all problems, even if they are more than a pipe takes at once', async () => {
    const dir = createStoreDir();
    const file = join(dir, 'documents.json');
    const problems = Array.from(
      { length: 2_000 },
      (_, i) => `k${i}: must be the text of a document`,
    );
    const documents = problems.map((problem) => [problem.split(':')[0], 5]);
    writeFileSync(file, JSON.stringify(Object.fromEntries(documents)));
    const under = ['sh', '-c', '"$0" "$@" 2>&1 | cat >&2; exit 1'];
    expect((await refusal({ TRUSTED_DOCUMENTS: file }, dir, under)).split('\n- ')).toEqual([
      'TRUSTED_DOCUMENTS refused:',
      ...problems,
    ]);
    rmSync(dir, { recursive: true });
  });

  it('and says that it may not write to the store’s directory', async () => {
    const parent = createStoreDir();
    const dir = join(parent, 'closed');
    mkdirSync(dir, { mode: 0o555 });
    chmodSync(parent, 0o755);
    // Root may write everywhere.
    const asOther = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--clear-groups'] : [];
    const message = (at: string) =>
      `${at} can't be created or written to by this user: change the owner or the mode of the directory and its files, or set EVENT_STORE_DIR to another directory`;
    expect(await refusal({}, dir, asOther)).toBe(message(dir));
    const below = join(dir, 'new');
    expect(await storeRefusal(below, asOther)).toContain(message(below));
    rmSync(parent, { recursive: true });
  });

  it.skipIf(!ownMounts)('and says that the disk is full', async () => {
    const dir = createStoreDir();
    const mount = 'mount -t tmpfs -o size=16k tmpfs "$0" && exec "$@"';
    expect(await storeRefusal(dir, [...(ownMounts ?? []), 'sh', '-c', mount, dir])).toContain(
      `${dir} is on a full disk: free space, or set EVENT_STORE_DIR to another directory`,
    );
    rmSync(dir, { recursive: true });
  });

  it.skipIf(!ownMounts)('and says that the file system is read-only', async () => {
    const dir = createStoreDir();
    const mount = 'mount -t tmpfs -o ro tmpfs "$0" && exec "$@"';
    const under = [...(ownMounts ?? []), 'sh', '-c', mount, dir];
    const message = (at: string) =>
      `${at} is on a read-only file system: mount it for writing, or set EVENT_STORE_DIR to another directory`;
    for (const at of [dir, join(dir, 'new')])
      expect(await storeRefusal(at, under)).toContain(message(at));
    rmSync(dir, { recursive: true });
  });
});

describe('a server that waits for Redis at its start', () => {
  // By default a signal ends a process too, but not process 1 of a container, and nothing is removed then.
  it.each(['SIGTERM', 'SIGINT'] as const)('ends on %s, and removes its files', async (signal) => {
    const dir = createStoreDir();
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `redis://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const env = environmentOf({ env: { REDIS_URL: url, TMPDIR: dir } }, '');
    const connected = once(silent, 'connection');
    const child = spawn(process.execPath, ['src/server.ts'], { env });
    await connected;
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(readdirSync(dir)).toEqual([]);
    silent.close();
    rmSync(dir, { recursive: true });
  });
});

describe('a server that has started', () => {
  const ready = async (url: string) => {
    const response = await fetch(`${url}/readyz`);
    return { status: response.status, text: await response.text() };
  };

  it('is alive and not ready while the Partner API is down', async () => {
    const port = await freePort();
    const env = { PARTNER_BASE_URL: `http://127.0.0.1:${port}/v2` };
    await using gateway = await openGateway({ sandbox, env });
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    const { status, text } = await ready(gateway.url);
    expect(status).toBe(503);
    expect(text).toContain('no connection could be made (ECONNREFUSED)');
    const { errors } = await gateway.query('{ organizations { totalCount } }');
    expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
    const back = await openSandbox({ port, switches: DETERMINISTIC });
    await until(async () => (await ready(gateway.url)).status === 200);
    await back.close();
  });

  it('is not ready with wrong credentials, and never logs them', async () => {
    const lines: string[] = [];
    const env = { PARTNER_CLIENT_SECRET: 'not-the-secret-at-all' };
    await using gateway = await openGateway({ sandbox, env, onLog: (line) => lines.push(line) });
    const { status, text } = await ready(gateway.url);
    expect(status).toBe(503);
    expect(JSON.parse(text).checks.partner).toContain('the credentials were refused');
    expect(lines.join('\n')).toContain('the client id or secret was refused');
    expect([...lines, text].join('\n')).not.toContain('not-the-secret');
  });
});
