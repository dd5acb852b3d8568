import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** Not every machine lets one process hold up another. It goes on for as long as it may, if it may at all. */
function canAttach(): boolean {
  const script = 'sleep 1 & exec timeout --signal=INT 0.2 strace -o /dev/null -p $!';
  const { status } = spawnSync('sh', ['-c', script], { stdio: 'ignore' });
  const timedOut = 124;
  return status === timedOut;
}

export const slowDiskAvailable = !process.env['SKIP_STRACE'] && canAttach();

export interface SlowDisk extends AsyncDisposable {
  /** As fast as before. */
  recover(): Promise<void>;
}

/** From here on nothing that this process writes is on its disk before so many milliseconds are over. */
export async function slowDisk(pid: number, ms: number): Promise<SlowDisk> {
  const late = `inject=fsync,fdatasync:delay_enter=${ms}ms`;
  const calls = ['-e', 'trace=fsync,fdatasync', '-e', late];
  const tracer = spawn('strace', ['-f', '-o', '/dev/null', '-p', String(pid), ...calls], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(tracer, 'exit');
  await new Promise<void>((resolve) => {
    tracer.stderr.on('data', (text) => String(text).includes('attached') && resolve());
  });
  const recover = async () => {
    tracer.kill('SIGINT');
    await exited;
  };
  return { recover, [Symbol.asyncDispose]: recover };
}
