import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freePort } from '../free-port.ts';
import { until } from '../ws/raw-socket.ts';

export interface Sentinel extends AsyncDisposable {
  readonly port: number;
  /** The port of the primary as it names it. */
  primary(): number;
}

/** A Sentinel that watches a primary called `main`, and has found this many replicas when it resolves. */
export async function startSentinel(primary: number, replicas: number): Promise<Sentinel> {
  const dir = await mkdtemp(join(tmpdir(), 'sentinel-'));
  const port = await freePort();
  const file = join(dir, 'sentinel.conf');
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${dir}`,
    `sentinel monitor main 127.0.0.1 ${primary} 1`,
    'sentinel down-after-milliseconds main 1000',
    'sentinel failover-timeout main 5000',
  ];
  await writeFile(file, lines.join('\n'));
  const process = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' });
  const exited = once(process, 'exit');
  const cli = (...args: readonly string[]) =>
    execFileSync('redis-cli', ['-p', String(port), ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  const isWatching = () => {
    try {
      return cli('INFO', 'sentinel').includes(`slaves=${replicas},`);
    } catch {
      return false;
    }
  };
  await until(isWatching);
  return {
    port,
    primary: () => Number(cli('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main').split('\n')[1]),
    async [Symbol.asyncDispose]() {
      process.kill('SIGKILL');
      await exited;
      await rm(dir, { recursive: true, force: true });
    },
  };
}
