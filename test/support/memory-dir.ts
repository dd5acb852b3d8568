import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';

const MEMORY = '/dev/shm/';
/** Ten times what the tests write. */
const ENOUGH_BYTES = 2 ** 30;

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > ENOUGH_BYTES;
  } catch {
    return false;
  }
}

/** Temporary files are in memory where there is room: the stores of most tests wait for the disk after every write. */
export function setup(): (() => void) | undefined {
  if (!hasRoom()) return undefined;
  const dir = mkdtempSync(`${MEMORY}partner-graph-test-`);
  // Some tests run a process as another user.
  chmodSync(dir, 0o755);
  process.env['TMPDIR'] = dir;
  return () => rmSync(dir, { recursive: true, force: true });
}
