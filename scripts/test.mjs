// Plain JavaScript, so that any Node can run it. Installs programs that some tests need, runs vitest with the given
// arguments, and then prints what was skipped and the number of passed and failed tests.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const APT_TIMEOUT_MS = 300_000;

/** A test that needs a program is skipped if the program's variable is set. The variable's value is the reason. */
const PROGRAMS = [
  { name: 'redis-server', variable: 'SKIP_REDIS' },
  { name: 'chromium', variable: 'SKIP_CHROMIUM' },
  { name: 'strace', variable: 'SKIP_STRACE' },
];

const skips = missingPrograms();
const scratch = mkdtempSync(join(tmpdir(), 'partner-graph-test-'));
const report = join(scratch, 'report.json');
const exitCode = runTests(skips);
const figures = readFigures();
rmSync(scratch, { recursive: true });

for (const { name, reason } of skips) console.log(`skipped: what needs ${name} (${reason})`);
for (const { file, count } of figures.skippedIn) console.log(`skipped: ${count} in ${file}`);
const more = figures.skipped > 0 ? `, ${figures.skipped} skipped` : '';
console.log(`${figures.passed} passed, ${figures.failed} failed${more}`);
process.exitCode = exitCode;

function missingPrograms() {
  const missing = PROGRAMS.filter(({ name, variable }) => !process.env[variable] && !isThere(name));
  const reason = missing.length > 0 ? install(missing.map(({ name }) => name)) : '';
  const still = missing.filter(({ name }) => !isThere(name)).map((each) => ({ ...each, reason }));
  const asked = PROGRAMS.filter(({ variable }) => process.env[variable]);
  return [...still, ...asked.map((each) => ({ ...each, reason: process.env[each.variable] }))];
}

function isThere(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    if (folder === '') return false;
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Installs the programs as root on Debian. Returns why they could not be installed, or an empty string. */
function install(programs) {
  if (!isDebian()) return 'not installed, and this is not Debian, where it would have been';
  if (process.getuid?.() !== 0) return 'not installed, and only root can';
  if (!isThere('apt-get')) return 'not installed, and there is no apt-get';
  console.log(`installing ${programs.join(', ')}`);
  const updated = apt(['update', '-qq']);
  const installed =
    updated && apt(['install', '-y', '-qq', '--no-install-recommends', ...programs]);
  return installed ? '' : 'not installed, and apt-get could not';
}

function isDebian() {
  const file = '/etc/os-release';
  return existsSync(file) && /^ID=debian$/m.test(readFileSync(file, 'utf8'));
}

function apt(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status } = spawnSync('apt-get', args, { env, stdio: 'ignore', timeout: APT_TIMEOUT_MS });
  return status === 0;
}

function runTests(missing) {
  // The Node that "npm ci" installed, also if this file is run without npm.
  const bundled = join(root, 'node_modules/.bin/node');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const variables = missing.map(({ variable, reason }) => [variable, reason]);
  const { status } = spawnSync(
    existsSync(bundled) ? bundled : process.execPath,
    [vitest, 'run', ...reporters, ...process.argv.slice(2)],
    { cwd: root, env: { ...process.env, ...Object.fromEntries(variables) }, stdio: 'inherit' },
  );
  return status ?? 1;
}

function readFigures() {
  const files = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')).testResults : [];
  const sum = (of) => files.reduce((total, file) => total + of(file), 0);
  const failed = sum(failedIn);
  return {
    passed: sum((file) => countOf(file, ['passed'])),
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: sum(skippedIn),
    skippedIn: files
      .map((file) => ({ file: relative(root, file.name), count: skippedIn(file) }))
      .filter((file) => file.count > 0),
  };
}

/** A file that can't be loaded has no tests in the report: it counts as one failed test. */
function failedIn(file) {
  return countOf(file, ['failed']) || Number(file.status === 'failed');
}

function skippedIn(file) {
  return countOf(file, ['skipped', 'pending', 'todo']);
}

function countOf(file, statuses) {
  return file.assertionResults.filter(({ status }) => statuses.includes(status)).length;
}
