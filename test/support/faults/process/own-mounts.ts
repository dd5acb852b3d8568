import { execFileSync } from 'node:child_process';

// As root, or as a user who may be root in their own namespace.
const WAYS = [
  ['unshare', '--mount'],
  ['unshare', '--user', '--map-root-user', '--mount'],
] as const;

/** The command to start a process with its own mounts; undefined where that is not allowed. */
export const ownMounts: readonly string[] | undefined = WAYS.find(([program, ...args]) => {
  try {
    const mount = 'mount -t tmpfs tmpfs /mnt';
    execFileSync(program, [...args, 'sh', '-c', mount], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});
