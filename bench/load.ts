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
  /** The number of the first request, so that no two bursts ask the same. */
  readonly from: number;
  readonly connections: number;
  readonly durationMs: number;
  readonly maxCount: number;
}

export interface Burst {
  readonly count: number;
  readonly failures: number;
  readonly bytes: number;
  readonly seconds: number;
  /** Of this process, for the whole burst. */
  readonly cpuUs: number;
}

const FAILED = Buffer.from('{"errors"');

function requestOf({ workload, mode, headers }: Job, n: number): Delivery {
  if (workload === 'K') return noteReady(n);
  return { body: requestBody(workload, mode, n), headers };
}

function exchange(
  pool: Pool,
  path: string,
  { body, headers }: Delivery,
): Promise<{ ok: boolean; bytes: number }> {
  return new Promise((resolve) => {
    let ok = false;
    let bytes = 0;
    pool.dispatch(
      { method: 'POST', path, headers, body },
      {
        onRequestStart: () => {},
        onResponseStart: (_, status) => void (ok = status < 300),
        onResponseData: (_, chunk) => {
          if (bytes === 0 && chunk.subarray(0, FAILED.length).equals(FAILED)) ok = false;
          bytes += chunk.length;
        },
        onResponseEnd: () => resolve({ ok, bytes }),
        onResponseError: () => resolve({ ok: false, bytes }),
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
  let bytes = 0;
  const worker = async (): Promise<void> => {
    while (sent < job.maxCount && performance.now() - startedAt < job.durationMs) {
      const n = job.from + sent;
      sent += 1;
      const answer = await exchange(pool, job.path, constant ?? requestOf(job, n));
      bytes += answer.bytes;
      if (!answer.ok) failures += 1;
    }
  };
  await Promise.all(Array.from({ length: job.connections }, worker));
  const seconds = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(before);
  await pool.close();
  return { count: sent, failures, bytes, seconds, cpuUs: user + system };
}

process.on('message', (job: Job) => void burst(job).then((done) => process.send?.(done)));
process.on('disconnect', () => process.exit(0));
