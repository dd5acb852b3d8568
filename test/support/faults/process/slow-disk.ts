import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';

/** Not every machine allows one process to trace another. */
function canAttach(): boolean {
  const script = 'sleep 1 & exec timeout --signal=INT 0.2 strace -o /dev/null -p $!';
  const { status } = spawnSync('sh', ['-c', script], { stdio: 'ignore' });
  const timedOut = 124;
  return status === timedOut;
}

export const slowDiskAvailable = !process.env['SKIP_STRACE'] && canAttach();

export interface FaultyDisk extends AsyncDisposable {
  /** Restores the normal behaviour. */
  recover(): Promise<void>;
}

/** All but the first: the one that writes is among them, and tracing the busiest would block everything. */
export const otherThreadsOf = (pid: number): readonly number[] =>
  readdirSync(`/proc/${pid}/task`)
    .map(Number)
    .filter((thread) => thread !== pid);

/** Delays every fsync of these threads by this many milliseconds. */
export const slowDisk = (threads: readonly number[], ms: number) =>
  faultyDisk(threads, `delay_enter=${ms}ms`);

/** Every fsync of these threads fails. */
export const failingDisk = (threads: readonly number[]) => faultyDisk(threads, 'error=EIO');

async function faultyDisk(threads: readonly number[], fault: string): Promise<FaultyDisk> {
  const calls = ['-e', 'trace=fsync,fdatasync', '-e', `inject=fsync,fdatasync:${fault}`];
  const attached = threads.flatMap((thread) => ['-p', String(thread)]);
  const tracer = spawn('strace', ['-o', '/dev/null', ...attached, ...calls], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(tracer, 'exit');
  let said = '';
  await new Promise<void>((resolve) => {
    tracer.stderr.on('data', (text) => {
      said += String(text);
      if (said.split(' attached').length > threads.length) resolve();
    });
  });
  const recover = async () => {
    tracer.kill('SIGINT');
    await exited;
  };
  return { recover, [Symbol.asyncDispose]: recover };
}
