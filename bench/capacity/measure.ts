import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';

import type { Bench } from '../bench.ts';
import { installPeers } from '../install.ts';
import { openLoader } from '../loader.ts';
import { ingestRows } from '../rows/ingest.ts';
import { requestRows } from '../rows/requests.ts';
import { openUpstream } from '../upstream-control.ts';
import { type BenchRow, FIGURES_URL, type Figures, type FiguresFile } from './figures.ts';
import { measureFlushUs, measureIngest, measureSubscribers } from './measure-instance.ts';
import { measureRedis } from './measure-redis.ts';

/** Measures every figure on this machine and writes the file. Nothing else should run meanwhile. */
export async function measure(say: (line: string) => void): Promise<void> {
  installPeers(say);
  await using upstream = await openUpstream();
  using loader = openLoader();
  const bench = await benchRows({
    upstream,
    loader,
    targets: ['gateway', 'raw', 'request'],
    quick: true,
    rounds: 5,
    roundMs: 600,
    warmUpMs: 2_500,
    profileDir: undefined,
    wants: () => true,
    say,
  });
  const mainThreadUs = (name: string): number => {
    const found = bench.find(({ row }) => row === name);
    if (!found) throw new Error(`the bench must have a row ${name}, but has not`);
    return found.mainThreadUs;
  };
  say('subscribers');
  const subscribers = await measureSubscribers(upstream.url, loader);
  say('garbage collection, bytes');
  const ingest = await measureIngest(upstream.url, loader);
  say('Redis');
  const redis = await measureRedis(upstream.url, loader, say);

  const figures: Figures = {
    hotSmall: mainThreadUs('hot W1'),
    hotLarge: mainThreadUs('hot W2'),
    executedSmall: mainThreadUs('executed W1'),
    executedLarge: mainThreadUs('executed W2'),
    uncachedSmall: mainThreadUs('uncached W1'),
    uncachedLarge: mainThreadUs('uncached W2'),
    ingestEmbedded: mainThreadUs('K webhook ingest'),
    ingestBatch: redis.ingest.batch,
    ingestEvent: redis.ingest.event,
    readPage: redis.read.batch,
    readEvent: redis.read.event,
    execute: subscribers.execute,
    send: subscribers.send,
    redisAppendBatch: redis.append.batch,
    redisAppendEvent: redis.append.event,
    redisReadPage: redis.redisRead.batch,
    redisReadEvent: redis.redisRead.event,
    redisFlush: measureFlushUs(),
    gcShare: ingest.gcShare,
    gcPause: ingest.gcPauseUs,
    baseMemory: subscribers.baseMb,
    subscriberMemory: subscribers.subscriberBytes,
    redisEventBytes: redis.bytes,
    redisMarkBytes: redis.markBytes,
    embeddedEventBytes: ingest.eventBytes,
  };
  const cores = availableParallelism();
  const file: FiguresFile = {
    date: new Date().toLocaleDateString('en-GB', { dateStyle: 'long' }),
    machine: `${cores} × ${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.version}, Redis ${redis.version}`,
    cores,
    figures,
    redis: redis.rounds,
    bench,
  };
  writeFileSync(FIGURES_URL, `${JSON.stringify(file, threeDigits, 1)}\n`);
}

const threeDigits = (_: string, value: unknown) =>
  typeof value === 'number' ? Number(value.toPrecision(3)) : value;

async function benchRows(bench: Bench): Promise<readonly BenchRow[]> {
  const rows = [...(await requestRows(bench)), ...(await ingestRows(bench))];
  return rows
    .filter(({ target }) => target === 'gateway')
    .map(({ row, perSecond = 0, mainThreadUs = 0 }) => ({ row, perSecond, mainThreadUs }));
}
