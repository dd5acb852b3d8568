import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const root = new URL('../../', import.meta.url).pathname;

/** Runs the check before every script with a Node that reports this version. */
function startWith(version: string) {
  const pretend = `Object.defineProperties(process, {
    version: { value: 'v${version}' }, versions: { value: { node: '${version}' } } })`;
  const imports = [
    `data:text/javascript,${encodeURIComponent(pretend)}`,
    './scripts/check-node.mjs',
  ];
  const args = [...imports.flatMap((file) => ['--import', file]), '-e', 'console.log("started")'];
  return spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
}

it.each(['20.19.0', '24.8.0'])('says in one line that Node %s is too old', (version) => {
  const { status, stdout, stderr } = startWith(version);
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^partner-graph needs Node 24\.9 or newer, but this is v.+: .+\n$/);
});

it('accepts a Node that is new enough', () => {
  expect(startWith('24.9.0')).toMatchObject({ status: 0, stdout: 'started\n', stderr: '' });
});
