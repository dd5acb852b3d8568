import { Pool } from 'undici';

import { type Mode, type Workload, requestBody } from './workloads.ts';

/** One burst of requests, bounded in time and number. */
export interface Job {
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly workload: Workload;
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
}

const FAILED = Buffer.from('{"errors"');

function exchange(pool: Pool, job: Job, body: string): Promise<{ ok: boolean; bytes: number }> {
  return new Promise((resolve) => {
    let ok = false;
    let bytes = 0;
    pool.dispatch(
      { method: 'POST', path: job.path, headers: job.headers, body },
      {
        onRequestStart: () => {},
        onResponseStart: (_, status) => void (ok = status === 200),
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
  const constant = job.mode === 'hot' ? requestBody(job.workload, 'hot', 0) : undefined;
  const startedAt = performance.now();
  let sent = 0;
  let failures = 0;
  let bytes = 0;
  const worker = async (): Promise<void> => {
    while (sent < job.maxCount && performance.now() - startedAt < job.durationMs) {
      const n = job.from + sent;
      sent += 1;
      const answer = await exchange(pool, job, constant ?? requestBody(job.workload, job.mode, n));
      bytes += answer.bytes;
      if (!answer.ok) failures += 1;
    }
  };
  await Promise.all(Array.from({ length: job.connections }, worker));
  const seconds = (performance.now() - startedAt) / 1_000;
  await pool.close();
  return { count: sent, failures, bytes, seconds };
}

process.on('message', (job: Job) => void burst(job).then((done) => process.send?.(done)));
process.on('disconnect', () => process.exit(0));
