import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Loaded into every measured process (`--import`): answers over the IPC channel what the process has used. */
export interface Usage {
  /** All threads, user and system, in microseconds. */
  readonly cpuUs: number;
  readonly mainThreadUs: number;
  readonly rssBytes: number;
  /** After a collection, if one was asked for. */
  readonly heapBytes: number;
}

export type Question = 'usage' | 'usage-after-gc';

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  const main = process.threadCpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return {
    cpuUs: user + system,
    mainThreadUs: main.user + main.system,
    rssBytes: rss,
    heapBytes: heapUsed,
  };
}

/** Without a flag on the command line, so that the process runs as it does in production. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  for (let i = 0; i < 3; i += 1) gc();
}

process.on('message', (question: Question) => {
  if (question !== 'usage' && question !== 'usage-after-gc') return;
  if (question === 'usage-after-gc') collectGarbage();
  process.send?.(usage());
});
// The run closes what it opened; a measured process whose run has died must not stay.
process.on('disconnect', () => process.exit(0));
