import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly dir: string;
  /** Ends it as a crash would, at once. */
  kill(): Promise<void>;
  /** Starts it again on the same port and the same files. */
  start(): Promise<void>;
  cli(...args: readonly string[]): string;
}

function isInstalled(): boolean {
  try {
    execFileSync('redis-server', ['--version']);
    return true;
  } catch {
    return false;
  }
}

/** Suites that need a Redis server skip themselves where there is none. */
export const redisAvailable = isInstalled();

async function launch(port: number, dir: string, options: readonly string[]) {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', ''];
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always'];
  // In a session of its own: the kernel hangs up a group of processes that has a stopped one in it and loses its parent.
  const server = spawn('redis-server', [...args, ...durable, ...options], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const exited = once(server, 'exit');
  const ready = new Promise<void>((resolve) => {
    server.stdout.on('data', (lines) => {
      if (String(lines).includes('Ready to accept connections')) resolve();
    });
  });
  // Another process may have taken the port meanwhile; its server must not be mistaken for this one.
  await Promise.race([
    ready,
    exited.then(([code]) => Promise.reject(new Error(`redis-server ended with ${code}`))),
  ]);
  return { server, exited };
}

/** A private redis-server on a free port, in a directory of its own, with every write on disk. */
export async function startRedis(...options: readonly string[]): Promise<RedisServer> {
  const dir = await mkdtemp(join(tmpdir(), 'redis-'));
  const port = await freePort();
  let running = await launch(port, dir, options);

  async function kill() {
    running.server.kill('SIGKILL');
    await running.exited;
  }

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    dir,
    get pid() {
      return running.server.pid ?? 0;
    },
    kill,
    async start() {
      running = await launch(port, dir, options);
    },
    cli: (...args) =>
      execFileSync('redis-cli', ['-p', String(port), ...args], { encoding: 'utf8' }).trim(),
    async [Symbol.asyncDispose]() {
      await kill();
      // Very rarely the directory is found not empty after its files were removed.
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
