import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MOUNT = 'mount -t tmpfs -o size=3m tmpfs "$0" && exec "$@"';
// As root, or as whoever may be root in a namespace of their own.
const WAYS = [
  ['unshare', '--mount'],
  ['unshare', '--user', '--map-root-user', '--mount'],
] as const;

const way = WAYS.find(([program, ...args]) => {
  try {
    execFileSync(program, [...args, 'sh', '-c', MOUNT, tmpdir(), 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

export const smallDiskAvailable = way !== undefined;

/** Starts a process that sees a disk of three megabytes at `dir`. It goes with the process. */
export const onSmallDisk = (dir: string): readonly string[] => [
  ...(way ?? []),
  'sh',
  '-c',
  MOUNT,
  dir,
];

/** Takes what is left of that disk; the answer gives it back. */
export function fillDisk(pid: number, dir: string): () => void {
  const filler = join(`/proc/${pid}/root`, dir, 'filler');
  const file = openSync(filler, 'w');
  for (const bytes of [65_536, 4_096, 512]) writeUntilFull(file, Buffer.alloc(bytes, 'x'));
  closeSync(file);
  return () => rmSync(filler);
}

function writeUntilFull(file: number, block: Buffer): void {
  try {
    while (writeSync(file, block) === block.length);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  }
}
