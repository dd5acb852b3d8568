import { type Gateway, headersOf } from './gateway.ts';
import type { Loader } from './loader.ts';
import type { Usage } from './probe.ts';
import { webhookJob } from './webhook-job.ts';
import { type Mode, WORKLOADS, type Workload, requestBody } from './workloads.ts';

export const ONE_ROW =
  'ROW: K, or hot, executed or uncached with W1, W2S or W2, such as executed-W1; with -ids, the id of every record too.';

export const WARM_UP_MS = 6_000;
const CONNECTIONS = { W1: 16, W2S: 8, W2: 4, K: 32 } as const;
const MODES: readonly Mode[] = ['hot', 'executed', 'uncached'];

export interface OneRow {
  readonly workload: Workload | 'K';
  readonly mode: Mode;
  readonly hasIds?: boolean;
}

/** Undefined if the text names no row. */
export function parseRow(text = ''): OneRow | undefined {
  if (text === 'K') return { workload: 'K', mode: 'uncached' };
  const [first, second, ids] = text.split('-');
  const mode = MODES.find((each) => each === first);
  const workload = WORKLOADS.find((each) => each === second);
  return mode && workload && { mode, workload, hasIds: ids === 'ids' };
}

export interface Spent {
  readonly count: number;
  /** Of one request, all threads and the main one. */
  readonly cpuUs: number;
  readonly mainThreadUs: number;
}

/** Sends requests of one row to gateways, no two with the same number, and measures what each costs. */
export async function openRow({ workload, mode, hasIds }: OneRow, loader: Loader) {
  const headers = await headersOf('bench');
  let from = 0;

  async function burst({ url }: Gateway, durationMs: number) {
    const bounds = { connections: CONNECTIONS[workload], durationMs, maxCount: 100_000 };
    if (workload === 'K') return loader.run(webhookJob(url, from + 1, bounds));
    const body = requestBody(workload, 'hot', 0);
    if (mode !== 'uncached')
      await (await fetch(`${url}/graphql`, { method: 'POST', headers, body })).arrayBuffer();
    return loader.run({ url, path: '/graphql', headers, workload, mode, hasIds, from, ...bounds });
  }

  return async (gateway: Gateway, durationMs: number): Promise<Spent> => {
    const before: Usage = await gateway.usage();
    const { count, failures } = await burst(gateway, durationMs);
    from += count;
    if (failures > 0) throw new Error(`${failures} of ${count} requests failed`);
    const after: Usage = await gateway.usage();
    const of = (name: 'cpuUs' | 'mainThreadUs') => (after[name] - before[name]) / count;
    return { count, cpuUs: of('cpuUs'), mainThreadUs: of('mainThreadUs') };
  };
}
