import {
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
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
const FLUSHES = 200;

/** Events one after another: to no subscriber, to one, to 1,000 and to 5,000. */
export async function measureSubscribers(upstreamUrl: string, loader: Loader) {
  await using gateway = await openGateway(upstreamUrl);
  using crowd = openCrowd(gateway.url, false);
  const none = await withoutSubscribers(gateway, loader);
  await grow(crowd, 1);
  await deliver(gateway, crowd, WARM_UP);
  const one = await perEvent(gateway, crowd, 100);
  const base = await gateway.usageAfterGc();
  await grow(crowd, FEW);
  const few = await perEvent(gateway, crowd, 8);
  const { rssBytes: fewBytes } = await gateway.usageAfterGc();
  await grow(crowd, MANY);
  const many = await perEvent(gateway, crowd, 4);
  const { rssBytes: manyBytes } = await gateway.usageAfterGc();
  return {
    execute: Math.max(0, one - none),
    send: (many - few) / (MANY - FEW),
    baseMb: base.rssBytes / 2 ** 20,
    subscriberBytes: (manyBytes - fewBytes) / (MANY - FEW),
  };
}

async function grow(crowd: Crowd, size: number): Promise<void> {
  await crowd.grow(size);
  await crowd.settle(() => nextEvent(), size);
}

async function perEvent(gateway: Gateway, crowd: Crowd, count: number): Promise<number> {
  const rounds: number[] = [];
  for (let i = 0; i < ROUNDS; i += 1) rounds.push(await deliver(gateway, crowd, count));
  return median(rounds);
}

async function deliver(gateway: Gateway, crowd: Crowd, count: number): Promise<number> {
  const deliveries = Array.from({ length: count }, () => nextEvent());
  const before = await gateway.usage();
  await crowd.fire(deliveries, crowd.size);
  return ((await gateway.usage()).mainThreadUs - before.mainThreadUs) / count;
}

async function withoutSubscribers(gateway: Gateway, loader: Loader): Promise<number> {
  const rounds: number[] = [];
  for (let i = 0; i <= ROUNDS; i += 1) {
    const before = await gateway.usage();
    const bounds = { connections: 1, durationMs: 20_000, maxCount: WARM_UP };
    await loader.run(webhookJob(gateway.url, 40_000_000 + i * WARM_UP, bounds));
    rounds.push(((await gateway.usage()).mainThreadUs - before.mainThreadUs) / WARM_UP);
  }
  return median(rounds.slice(1));
}

/** Garbage collection while webhooks are ingested, by the gateway's metrics, and the bytes they take in the embedded log. */
export async function measureIngest(upstreamUrl: string, loader: Loader) {
  const dir = mkdtempSync(join(tmpdir(), 'partner-graph-capacity-'));
  try {
    await using gateway = await openGateway(upstreamUrl, { EVENT_STORE_DIR: dir });
    const before = await gateway.usage();
    const bounds = { connections: 32, durationMs: 60_000, maxCount: STORED };
    const { count } = await loader.run(webhookJob(gateway.url, 50_000_000, bounds));
    const after = await gateway.usage();
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    const total = (name: string) =>
      [...metrics.matchAll(new RegExp(`^nodejs_gc_duration_seconds_${name}\\{.*\\} (\\S+)$`, 'gm'))]
        .map(([, value]) => Number(value))
        .reduce((sum, value) => sum + value, 0);
    // The log is complete once it is closed.
    await gateway[Symbol.asyncDispose]();
    const sizes = readdirSync(dir).map((name) => statSync(join(dir, name)).size);
    return {
      gcShare: (total('sum') * 1e6) / (after.mainThreadUs - before.mainThreadUs),
      gcPauseUs: (total('sum') * 1e6) / total('count'),
      eventBytes: sizes.reduce((sum, size) => sum + size, 0) / count,
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The median time of a flush of a kilobyte, on the disk that Redis and the embedded log were measured on. */
export function measureFlushUs(): number {
  const dir = mkdtempSync(join(tmpdir(), 'partner-graph-capacity-'));
  const file = openSync(join(dir, 'flushed'), 'a');
  try {
    const times = Array.from({ length: FLUSHES }, () => {
      const startedAt = performance.now();
      writeSync(file, Buffer.alloc(1_024, 'x'));
      fdatasyncSync(file);
      return (performance.now() - startedAt) * 1_000;
    });
    return median(times);
  } finally {
    closeSync(file);
    rmSync(dir, { recursive: true, force: true });
  }
}
