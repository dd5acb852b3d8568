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

it('says in one line that Node is too old, and does not start', () => {
  const { status, stdout, stderr } = startWith('20.19.0');
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^partner-graph needs Node 24 or newer, but this is v20\.19\.0: .+\n$/);
});

it('accepts a Node that is new enough', () => {
  expect(startWith('24.0.0')).toMatchObject({ status: 0, stdout: 'started\n', stderr: '' });
});
