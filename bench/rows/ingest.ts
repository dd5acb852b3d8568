import type { Bench } from '../bench.ts';
import { type Child, openChild } from '../child.ts';
import { type Figure, median, megabytes, ratioOf } from '../figures.ts';
import { openGateway } from '../gateway.ts';
import { webhookJob } from '../webhook-job.ts';

const CONNECTIONS = 32;
const MAX_COUNT = 20_000;

interface Round {
  readonly cpuUs: number;
  readonly mainThreadUs: number;
  readonly perSecond: number;
  readonly rssBytes: number;
}

/** K: signed webhooks, each durable before its answer, against a `node:http` that only reads them. */
export async function ingestRows(bench: Bench): Promise<readonly Figure[]> {
  if (!bench.wants('K')) return [];
  bench.say('K');
  await using gateway = await openGateway(bench.upstream.url, {}, bench.profileDir);
  await using raw = await openChild({ script: 'bench/targets/raw-http.ts' });
  const ofGateway: Round[] = [];
  const ofRaw: Round[] = [];
  await measure(bench, gateway, bench.warmUpMs);
  await measure(bench, raw, bench.warmUpMs);
  for (let i = 0; i < bench.rounds; i += 1) {
    ofGateway.push(await measure(bench, gateway));
    ofRaw.push(await measure(bench, raw));
  }
  const figure = (target: string, own: readonly Round[]) => {
    const mainThreadUs = median(own.map((round) => round.mainThreadUs));
    return {
      row: 'K webhook ingest',
      target,
      ...ratioOf(ofRaw, own, (round) => round.cpuUs),
      cpuUs: median(own.map((round) => round.cpuUs)),
      mainThreadUs,
      note: `${mainThreadUs.toFixed(0)} µs main thread`,
      perSecond: median(own.map((round) => round.perSecond)),
      memoryMb: megabytes(own.at(-1)?.rssBytes ?? 0),
    };
  };
  const gatewayFigure = figure('gateway', ofGateway);
  return [
    { ...gatewayFigure, goal: '≥ 0.40', met: gatewayFigure.ratio >= 0.4 },
    figure('raw', ofRaw),
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
    rssBytes: after.rssBytes,
  };
}
