import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { readConfig } from '../src/config.ts';
import { createLog } from '../src/observability/log.ts';
import { openServer } from '../src/server.ts';
import { post } from './support/gateway.ts';
import { until } from './support/ws/raw-socket.ts';

const dir = mkdtempSync(join(tmpdir(), 'partner-graph-'));
const usual = process.env['TMPDIR'];
beforeAll(() => {
  process.env['TMPDIR'] = dir;
});
afterAll(() => {
  if (usual === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = usual;
  rmSync(dir, { recursive: true });
});

const open = (env: Record<string, string>, onLine: (line: string) => void = () => {}) =>
  openServer(readConfig({ PORT: '0', ...env }), createLog('info', { write: onLine }));

async function eventsOf(server: { readonly url: string }): Promise<number> {
  const { data } = await post(server.url, { query: '{ events { nodes { cursor } } }' });
  return data.events.nodes.length;
}

it('begins the sandbox’s event log empty at every start, in a folder that is removed at the end', async () => {
  {
    await using server = await open({ SANDBOX_PULSE_MS: '20' });
    await until(async () => (await eventsOf(server)) > 0);
    expect(readdirSync(dir)).toHaveLength(1);
  }
  expect(readdirSync(dir)).toEqual([]);
  await using server = await open({ SANDBOX_PULSE_MS: '0' });
  expect(await eventsOf(server)).toBe(0);
});

it('lets the sandbox sign its webhooks as configured', async () => {
  await using server = await open({
    SANDBOX_PULSE_MS: '20',
    WEBHOOK_SIGNATURE_HEADER: 'x-other',
    WEBHOOK_SIGNATURE_ALGORITHM: 'sha512',
    WEBHOOK_SIGNATURE_ENCODING: 'base64',
    WEBHOOK_SIGNATURE_PREFIX: 'sha512=',
  });
  await until(async () => (await eventsOf(server)) > 0);
});

it('removes that folder, too, if nobody reads stdout at the end', async () => {
  const env = { ...process.env, PORT: '0', SANDBOX_PULSE_MS: '0' };
  const child = spawn(process.execPath, ['src/server.ts'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  // Leaving the loop closes the pipe.
  for await (const line of child.stdout) if (String(line).includes('serving')) break;
  expect(readdirSync(dir)).toHaveLength(1);
  child.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  expect(readdirSync(dir)).toEqual([]);
});

it('names the variables of an address that it can’t listen on', async () => {
  const env = { SANDBOX_PULSE_MS: '0', AUTH_JWT_SECRET: 'x'.repeat(32) };
  await using server = await open(env);
  const { port: PORT } = new URL(server.url);
  await expect(open({ ...env, PORT })).rejects.toThrow(/^HOST and PORT .* EADDRINUSE/);
  // Of the addresses for documentation: no interface has it.
  await expect(open({ ...env, HOST: '192.0.2.1' })).rejects.toThrow(/^HOST and PORT .* 192.0.2.1$/);
});

const hasIPv6 = Object.values(networkInterfaces())
  .flat()
  .some((each) => each?.address === '::1');

it.skipIf(!hasIPv6)('has a URL that can be opened if HOST is an IPv6 address', async () => {
  const env = { SANDBOX_PULSE_MS: '0', AUTH_JWT_SECRET: 'x'.repeat(32), HOST: '::1' };
  await using server = await open(env);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
});

it('logs a warning for each unknown variable', async () => {
  const lines: string[] = [];
  await using _ = await open(
    { SANDBOX_PULSE_MS: '0', PARTNER_TIMEOUT: '1' },
    (line) => void lines.push(line),
  );
  expect(lines.join('')).toContain('PARTNER_TIMEOUT is not a known variable');
});
