import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { median } from './figures.ts';
import { type Gateway, headersOf, openGateway } from './gateway.ts';
import type { Burst } from './load.ts';
import { openLoader } from './loader.ts';
import { runProgram } from './program.ts';
import { inTurn } from './targets.ts';
import { openUpstream } from './upstream-control.ts';
import { webhookJob } from './webhook-job.ts';
import { type Mode, WORKLOADS, requestBody } from './workloads.ts';

const USAGE = `npm run compare -- DIR ROW [--rounds 24]
DIR: another checkout of the gateway, installed. ROW: K, or hot, executed or uncached with W1, W2S or W2, such as executed-W1.`;

/** Processes of each checkout: what V8 compiles differs from process to process. */
const PROCESSES = 2;
const ROUND_MS = 300;
const WARM_UP_MS = 6_000;
const CONNECTIONS: Readonly<Record<string, number>> = { W1: 16, W2S: 8, W2: 4, K: 32 };

/** The CPU of this checkout as a share of another's, in short rounds that alternate, so that the machine's noise meets both. */
async function compare(args: readonly string[]): Promise<void> {
  const options = { rounds: { type: 'string', default: '24' } } as const;
  const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [dir, row = ''] = positionals;
  const [mode = '', name] = row === 'K' ? ['uncached', 'K'] : row.split('-');
  const workload = WORKLOADS.find((each) => each === name);
  const isRow = name === 'K' || (workload && ['hot', 'executed', 'uncached'].includes(mode));
  if (dir === undefined || !isRow) throw new Error('--usage: name a checkout and a row');

  await using upstream = await openUpstream();
  using loader = openLoader();
  await using opened = new AsyncDisposableStack();
  const headers = await headersOf('bench');
  const gateways: { gateway: Gateway; cpuUs: number[] }[] = [];
  for (let i = 0; i < PROCESSES; i += 1)
    for (const root of [resolve(dir), undefined]) {
      const gateway = await openGateway(upstream.url, {}, undefined, root);
      gateways.push({ gateway: opened.use(gateway), cpuUs: [] });
    }

  let from = 0;
  async function burst({ url }: Gateway, durationMs: number): Promise<Burst> {
    const bounds = { connections: CONNECTIONS[name!]!, durationMs, maxCount: 100_000 };
    if (!workload) return loader.run(webhookJob(url, from + 1, bounds));
    const body = requestBody(workload, 'hot', 0);
    if (mode !== 'uncached')
      await (await fetch(`${url}/graphql`, { method: 'POST', headers, body })).arrayBuffer();
    const job = { url, path: '/graphql', headers, workload, mode: mode as Mode, from };
    return loader.run({ ...job, ...bounds });
  }
  async function cpuOf(gateway: Gateway, durationMs: number): Promise<number> {
    const before = await gateway.usage();
    const { count, failures } = await burst(gateway, durationMs);
    from += count;
    if (failures > 0) throw new Error(`${failures} of ${count} requests failed`);
    return ((await gateway.usage()).cpuUs - before.cpuUs) / count;
  }

  for (const { gateway } of gateways) await cpuOf(gateway, WARM_UP_MS);
  for (let i = 0; i < Number(values.rounds); i += 1)
    for (const { gateway, cpuUs } of inTurn(gateways, i))
      cpuUs.push(await cpuOf(gateway, ROUND_MS));

  const [first] = gateways;
  for (const [i, { cpuUs }] of gateways.entries()) {
    const ratio = median(cpuUs.map((us, round) => us / first!.cpuUs[round]!));
    const whose = i % 2 === 0 ? 'that checkout' : 'this checkout';
    process.stdout.write(`${whose}: ${median(cpuUs).toFixed(0)} µs, ${ratio.toFixed(2)}\n`);
  }
}

await runProgram(compare, USAGE);
