import { Session } from 'node:inspector/promises';
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

export type Question = 'usage' | 'usage-after-gc' | 'profile-start' | 'profile-stop';

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

const session = new Session();

async function startProfile(): Promise<void> {
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 250 });
  await session.post('Profiler.start');
}

async function answer(question: Question): Promise<unknown> {
  if (question === 'profile-start') return (await startProfile()) ?? 'started';
  if (question === 'profile-stop') return (await session.post('Profiler.stop')).profile;
  if (question === 'usage-after-gc') collectGarbage();
  return usage();
}

const QUESTIONS: readonly unknown[] = ['usage', 'usage-after-gc', 'profile-start', 'profile-stop'];

process.on('message', (question) => {
  if (!QUESTIONS.includes(question)) return;
  void answer(question as Question).then((answered) => process.send?.(answered));
});
// The run closes what it opened; a measured process whose run has died must not stay.
process.on('disconnect', () => process.exit(0));
