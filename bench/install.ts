import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT } from './child.ts';

/** The peers are no dependency of the gateway: they are fetched at the first run. */
export function installPeers(say: (line: string) => void): void {
  if (existsSync(join(ROOT, 'bench/node_modules/.package-lock.json'))) return;
  say("first use: installing the bench's own dependencies (npm ci --prefix bench)");
  const args = ['ci', '--prefix', 'bench', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm ci --prefix bench must succeed, but ended with ${status}`);
}
