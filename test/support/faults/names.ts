import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ownMounts } from './process/own-mounts.ts';

export const namesAvailable = ownMounts !== undefined;

const MOUNT = 'mount --bind "$0/hosts" /etc/hosts && mount --bind "$0/resolv" /etc/resolv.conf';

/** The hosts file of one process. There is no name server: a name that is not listed fails. */
export interface Names extends Disposable {
  readonly under: readonly string[];
  list(...names: readonly string[]): void;
}

export function createNames(): Names {
  const dir = mkdtempSync(join(tmpdir(), 'names-'));
  const list = (...names: readonly string[]) =>
    writeFileSync(join(dir, 'hosts'), ['127.0.0.1', 'localhost', ...names].join(' '));
  list();
  writeFileSync(join(dir, 'resolv'), 'nameserver 127.9.9.9\n');
  return {
    under: [...(ownMounts ?? []), 'sh', '-c', `${MOUNT} && exec "$@"`, dir],
    list,
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}
