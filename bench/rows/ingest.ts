import type { Bench } from '../bench.ts';
import { type Child, openChild } from '../child.ts';
import { type Figure, median, spread } from '../figures.ts';
import { openGateway } from '../gateway.ts';
import { webhookJob } from '../webhook-job.ts';

const CONNECTIONS = 32;
const MAX_COUNT = 20_000;

interface Round {
  readonly cpuUs: number;
  readonly mainThreadUs: number;
  readonly perSecond: number;
}

/** K: signed webhooks, each durable before its answer, against a `node:http` that only reads them. */
export async function ingestRows(bench: Bench): Promise<readonly Figure[]> {
  if (!bench.wants('K')) return [];
  bench.say('K');
  await using gateway = await openGateway(bench.upstream.url, {}, bench.profileDir);
  await using raw = await openChild({ script: 'bench/targets/raw-http.ts' });
  const rounds: { gateway: Round; raw: Round }[] = [];
  await measure(bench, gateway, bench.warmUpMs);
  await measure(bench, raw, bench.warmUpMs);
  for (let i = 0; i < bench.rounds; i += 1)
    rounds.push({ gateway: await measure(bench, gateway), raw: await measure(bench, raw) });

  const ratios = rounds.map((round) => round.raw.cpuUs / round.gateway.cpuUs);
  const figure = (target: 'gateway' | 'raw') => ({
    row: 'K webhook ingest',
    target,
    cpuUs: median(rounds.map((round) => round[target].cpuUs)),
    mainThreadUs: median(rounds.map((round) => round[target].mainThreadUs)),
    note: `${median(rounds.map((round) => round[target].mainThreadUs)).toFixed(0)} µs main thread`,
    perSecond: median(rounds.map((round) => round[target].perSecond)),
  });
  const ratio = median(ratios);
  return [
    { ...figure('gateway'), ratio, spread: spread(ratios), goal: '≥ 0.70', met: ratio >= 0.7 },
    { ...figure('raw'), ratio: 1 },
  ];
}

let next = 1;

async function measure(bench: Bench, child: Child, durationMs = bench.roundMs): Promise<Round> {
  const before = await child.usage();
  const bounds = { connections: CONNECTIONS, durationMs, maxCount: MAX_COUNT };
  const { count, failures, seconds } = await bench.loader.run(webhookJob(child.url, next, bounds));
  const after = await child.usage();
  next += count;
  if (failures > 0) throw new Error(`every webhook must be answered 2xx, but ${failures} were not`);
  return {
    cpuUs: (after.cpuUs - before.cpuUs) / count,
    mainThreadUs: (after.mainThreadUs - before.mainThreadUs) / count,
    perSecond: count / seconds,
  };
}
