import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { ownMounts } from './own-mounts.ts';

const MOUNT = 'mount -t tmpfs -o size=3m tmpfs "$0" && exec "$@"';
export const smallDiskAvailable = ownMounts !== undefined;

/** Starts a process with a disk of three megabytes at `dir`, which is removed with the process. */
export const onSmallDisk = (dir: string): readonly string[] => [
  ...(ownMounts ?? []),
  'sh',
  '-c',
  MOUNT,
  dir,
];

/** Fills that disk; the returned function frees the space. */
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
