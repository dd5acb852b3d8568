import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const script = new URL('../scripts/test.mjs', import.meta.url).pathname;
const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** Runs the script over test files of its own, with no program to be found but Node. */
async function runOver(files: Record<string, string>, env: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'partner-graph-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const args = [script, '--root', folder, '--globals'];
  const skips = { SKIP_REDIS: 'no redis', SKIP_CHROMIUM: 'no chromium', SKIP_STRACE: 'no strace' };
  const options = { env: { PATH: folder, HOME: folder, NO_COLOR: '1', ...skips, ...env } };
  return new Promise<{ code: number; lines: string[] }>((resolve) => {
    execFile(process.execPath, args, options, (error, stdout) => {
      const code = typeof error?.code === 'number' ? error.code : 0;
      resolve({ code, lines: stdout.trimEnd().split('\n') });
    });
  });
}

describe('npm test', () => {
  it('ends with the figures, and with the code of the tests', async () => {
    const fine = "it('a', () => {}); it('b', () => {});";
    const { code, lines } = await runOver({ 'fine.test.js': fine });
    expect(lines.at(-1)).toBe('2 passed, 0 failed');
    expect(code).toBe(0);
  });

  it('counts what failed, and a file that does not load as one', async () => {
    const { code, lines } = await runOver({
      'mixed.test.js': "it('a', () => {}); it('b', () => { throw new Error('x'); });",
      'broken.test.js': "throw new Error('x');",
    });
    expect(lines.at(-1)).toBe('1 passed, 2 failed');
    expect(code).toBe(1);
  });

  it('fails when there is nothing to run', async () => {
    const { code, lines } = await runOver({});
    expect(lines.at(-1)).toBe('0 passed, 1 failed');
    expect(code).toBe(1);
  });

  it('names what was skipped and why, and tells the tests', async () => {
    const text =
      "it('a', () => expect(process.env.SKIP_REDIS).toMatch(/./)); it['skip']('b', () => {});";
    const { lines } = await runOver({ 'some.test.js': text }, { SKIP_REDIS: '' });
    const last = lines.slice(-5);
    expect(last[0]).toMatch(/^skipped: what needs redis-server \(not installed, and /);
    expect(last[1]).toBe('skipped: what needs chromium (no chromium)');
    expect(last[2]).toBe('skipped: what needs strace (no strace)');
    expect(last[3]).toMatch(/^skipped: 1 in .*some\.test\.js$/);
    expect(last[4]).toBe('1 passed, 0 failed, 1 skipped');
  });
});
