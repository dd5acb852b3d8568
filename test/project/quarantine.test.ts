import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, expect, it } from 'vitest';

const script = new URL('../../scripts/quarantine.ts', import.meta.url).pathname;
const dir = mkdtempSync(join(tmpdir(), 'partner-graph-'));
afterAll(() => rmSync(dir, { recursive: true }));

const quarantine = (...args: string[]) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      [script, ...args],
      { env: { EVENT_STORE_DIR: dir } },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });

it.each([['reply'], ['--help'], ['replay', 'all']])('prints its usage for %j', async (...args) => {
  const { code, stdout, stderr } = await quarantine(...args);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^Usage:\n {2}npm run quarantine .* lists/);
  expect(stderr).toContain('npm run quarantine -- replay');
});

it('lists, and replays', async () => {
  expect(await quarantine()).toMatchObject({ code: 0, stdout: '0 in quarantine\n' });
  const { code, stdout } = await quarantine('replay');
  expect([code, stdout]).toEqual([0, '0 replayed as 0 new events; 0 left\n']);
});
