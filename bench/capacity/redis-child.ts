import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createClient } from 'redis';

import { freePort } from '../child.ts';

/** What the server has done so far. */
export interface RedisUsage {
  /** Of the thread that serves, user and system. */
  readonly cpuUs: number;
  readonly memoryBytes: number;
  readonly calls: ReadonlyMap<string, number>;
  /** Appended so far. */
  readonly events: number;
}

export interface RedisChild extends AsyncDisposable {
  readonly url: string;
  readonly version: string;
  usage(): Promise<RedisUsage>;
  /** Memory of the keys that have this word after the prefix. */
  bytesOf(word: string): Promise<number>;
  /** Number of the keys that have this word after the prefix. */
  count(word: string): Promise<number>;
}

/** A server of the run's own, as the operators' page asks for it: every write flushed before its answer. */
export async function openRedis(): Promise<RedisChild> {
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), 'partner-graph-capacity-'));
  const durable = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, ...durable];
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(server, 'exit');
  await new Promise<void>((resolve, reject) => {
    server.once('error', () => reject(new Error('redis-server must be installed, but is not')));
    server.stdout.on('data', (lines) => String(lines).includes('Ready to accept') && resolve());
  });
  const url = `redis://127.0.0.1:${port}`;
  const client = createClient({ url });
  await client.connect();
  const ask = async (...words: string[]) => infoOf(await client.sendCommand<string>(words));
  const about = await ask('INFO', 'server');
  return {
    url,
    version: about.get('redis_version') ?? '',
    async usage() {
      const info = await ask('INFO', 'everything');
      const seconds = (name: string) => Number(info.get(`used_cpu_${name}_main_thread`));
      const calls = [...info]
        .filter(([name]) => name.startsWith('cmdstat_'))
        .map(([name, stat]) => [name.slice(8), Number(/calls=(\d+)/.exec(stat)?.[1])] as const);
      return {
        cpuUs: (seconds('user') + seconds('sys')) * 1e6,
        memoryBytes: Number(info.get('used_memory')),
        calls: new Map(calls),
        events: new Map(calls).get('xadd') ?? 0,
      };
    },
    async bytesOf(word) {
      const keys = await client.keys(`*}:${word}*`);
      const sizes = keys.map((key) => client.sendCommand<number>(['MEMORY', 'USAGE', key]));
      return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    },
    count: async (word) => (await client.keys(`*}:${word}*`)).length,
    async [Symbol.asyncDispose]() {
      await client.close();
      server.kill('SIGKILL');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const infoOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text
      .split('\r\n')
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
