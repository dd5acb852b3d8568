import { execFileSync } from 'node:child_process';

// As root, or as whoever may be root in a namespace of their own.
const WAYS = [
  ['unshare', '--mount'],
  ['unshare', '--user', '--map-root-user', '--mount'],
] as const;

/** How a process is started that may mount what no other sees; undefined where nobody may. */
export const ownMounts: readonly string[] | undefined = WAYS.find(([program, ...args]) => {
  try {
    const mount = 'mount -t tmpfs tmpfs /mnt';
    execFileSync(program, [...args, 'sh', '-c', mount], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});
