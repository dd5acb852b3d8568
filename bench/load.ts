import { Pool } from 'undici';

import { type Delivery, noteReady } from './events.ts';
import { type Mode, type Workload, requestBody } from './workloads.ts';

/** One burst of requests, bounded in time and number. */
export interface Job {
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** K: webhooks. */
  readonly workload: Workload | 'K';
  readonly mode: Mode;
  /** Whether the `id` of every record is selected too. */
  readonly hasIds?: boolean | undefined;
  /** The length of a right answer, where there is more to it than its status. */
  readonly answerBytes?: number;
  /** The number of the first request, so that no two bursts ask the same. */
  readonly from: number;
  readonly connections: number;
  readonly durationMs: number;
  readonly maxCount: number;
}

export interface Burst {
  readonly count: number;
  readonly failures: number;
  readonly seconds: number;
  /** Of this process, for the whole burst. */
  readonly cpuUs: number;
}

/**
 * Every server is asked for data of one length: nulls, errors and lost rows show in it, and nothing has to be read for
 * that. The gateway also says how many calls an answer took, whose digits vary by a few.
 */
const DIGITS = 4;

function requestOf({ workload, mode, headers, hasIds }: Job, n: number): Delivery {
  if (workload === 'K') return noteReady(n);
  return { body: requestBody(workload, mode, n, hasIds), headers };
}

/** Whether the answer is a right one. */
function exchange(
  pool: Pool,
  { path, answerBytes }: Job,
  { body, headers }: Delivery,
): Promise<boolean> {
  return new Promise((resolve) => {
    let ok = false;
    let bytes = 0;
    const isWhole = () => answerBytes === undefined || Math.abs(bytes - answerBytes) <= DIGITS;
    pool.dispatch(
      { method: 'POST', path, headers, body },
      {
        onRequestStart: () => {},
        onResponseStart: (_, status) => void (ok = status < 300),
        onResponseData: (_, chunk) => void (bytes += chunk.length),
        onResponseEnd: () => resolve(ok && isWhole()),
        onResponseError: () => resolve(false),
      },
    );
  });
}

async function burst(job: Job): Promise<Burst> {
  const pool = new Pool(job.url, { connections: job.connections, allowH2: false });
  const constant = job.mode === 'hot' ? requestOf(job, 0) : undefined;
  const startedAt = performance.now();
  const before = process.cpuUsage();
  let sent = 0;
  let failures = 0;
  const worker = async (): Promise<void> => {
    while (sent < job.maxCount && performance.now() - startedAt < job.durationMs) {
      const n = job.from + sent;
      sent += 1;
      if (!(await exchange(pool, job, constant ?? requestOf(job, n)))) failures += 1;
    }
  };
  await Promise.all(Array.from({ length: job.connections }, worker));
  const seconds = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(before);
  await pool.close();
  return { count: sent, failures, seconds, cpuUs: user + system };
}

process.on('message', (job: Job) => void burst(job).then((done) => process.send?.(done)));
process.on('disconnect', () => process.exit(0));
