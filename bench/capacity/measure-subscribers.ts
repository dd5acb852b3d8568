import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Crowd, nextEvent, openCrowd } from '../crowd.ts';
import { median } from '../figures.ts';
import { type Gateway, openGateway } from '../gateway.ts';
import type { Loader } from '../loader.ts';
import { webhookJob } from '../webhook-job.ts';

const [FEW, MANY] = [1_000, 5_000];
const ROUNDS = 5;
const WARM_UP = 300;
const STORED = 20_000;

export interface SubscriberFigures {
  /** Of an event to one subscriber, minus one to none; and of each further subscriber. */
  readonly execute: number;
  readonly send: number;
  readonly baseMb: number;
  readonly subscriberBytes: number;
  readonly subscriberHeapBytes: number;
}

/** One gateway, events one after the other: to no subscriber, to one, to a thousand, to five thousand. */
export async function measureSubscribers(
  upstreamUrl: string,
  loader: Loader,
): Promise<SubscriberFigures> {
  await using gateway = await openGateway(upstreamUrl);
  using crowd = openCrowd(gateway.url, false);
  const perEvent = async (count: number, hearers: number): Promise<number> => {
    const rounds: number[] = [];
    for (let i = 0; i < ROUNDS; i += 1) rounds.push(await fired(gateway, crowd, count, hearers));
    return median(rounds);
  };
  const nobody = await ofNobody(gateway, loader);
  await crowd.grow(1);
  await crowd.settle(() => nextEvent(), 1);
  await fired(gateway, crowd, WARM_UP, 1);
  const one = await perEvent(100, 1);
  const base = await gateway.usageAfterGc();
  await crowd.grow(FEW);
  await crowd.settle(() => nextEvent(), FEW);
  const few = await perEvent(8, FEW);
  const fewUsage = await gateway.usageAfterGc();
  await crowd.grow(MANY);
  await crowd.settle(() => nextEvent(), MANY);
  const many = await perEvent(4, MANY);
  const manyUsage = await gateway.usageAfterGc();
  return {
    execute: Math.max(0, one - nobody),
    send: (many - few) / (MANY - FEW),
    baseMb: base.rssBytes / 2 ** 20,
    subscriberBytes: (manyUsage.rssBytes - fewUsage.rssBytes) / (MANY - FEW),
    subscriberHeapBytes: (manyUsage.heapBytes - fewUsage.heapBytes) / (MANY - FEW),
  };
}

async function fired(gateway: Gateway, crowd: Crowd, count: number, hearers: number) {
  const deliveries = Array.from({ length: count }, () => nextEvent());
  const before = await gateway.usage();
  await crowd.fire(deliveries, hearers);
  const after = await gateway.usage();
  return (after.mainThreadUs - before.mainThreadUs) / count;
}

async function ofNobody(gateway: Gateway, loader: Loader): Promise<number> {
  const rounds: number[] = [];
  for (let i = 0; i <= ROUNDS; i += 1) {
    const before = await gateway.usage();
    const bounds = { connections: 1, durationMs: 20_000, maxCount: WARM_UP };
    const from = 40_000_000 + i * WARM_UP;
    await loader.run(webhookJob(gateway.url, from, bounds));
    const after = await gateway.usage();
    rounds.push((after.mainThreadUs - before.mainThreadUs) / WARM_UP);
  }
  return median(rounds.slice(1));
}

/** What the embedded log takes up on disk, an event, once it has been closed. */
export async function measureEmbeddedBytes(upstreamUrl: string, loader: Loader): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'partner-graph-capacity-'));
  try {
    await using gateway = await openGateway(upstreamUrl, { EVENT_STORE_DIR: dir });
    const bounds = { connections: 32, durationMs: 60_000, maxCount: STORED };
    const { count } = await loader.run(webhookJob(gateway.url, 50_000_000, bounds));
    await gateway[Symbol.asyncDispose]();
    const sizes = readdirSync(dir).map((name) => statSync(join(dir, name)).size);
    return sizes.reduce((sum, size) => sum + size, 0) / count;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
