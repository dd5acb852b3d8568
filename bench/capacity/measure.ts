import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';

import type { Bench } from '../bench.ts';
import type { Figure } from '../figures.ts';
import { installPeers } from '../install.ts';
import { openLoader } from '../loader.ts';
import { ingestRows } from '../rows/ingest.ts';
import { requestRows } from '../rows/requests.ts';
import { openUpstream } from '../upstream-control.ts';
import { FIGURES_URL, type FigureName, type FiguresFile, type Measured } from './figures.ts';
import { measureCollector } from './measure-collector.ts';
import { measureFlushUs } from './measure-flush.ts';
import { TOGETHER, measureRedis } from './measure-redis.ts';
import { measureEmbeddedBytes, measureSubscribers } from './measure-subscribers.ts';
import { splitRounds } from './split.ts';

const BENCH = 'npm run bench -- --only hot,executed,uncached,K';
const HERE = 'npm run capacity -- --measure';

/** Takes every figure anew on this machine, and writes them down. Some minutes; nothing else should run meanwhile. */
export async function measure(say: (line: string) => void): Promise<void> {
  installPeers(say);
  await using upstream = await openUpstream();
  using loader = openLoader();
  const bench: Bench = {
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
  };
  const rows = [...(await requestRows(bench)), ...(await ingestRows(bench))];
  const main = (row: string) => mainThreadOf(rows, row);
  say('subscribers');
  const subscribers = await measureSubscribers(upstream.url, loader);
  say('collector');
  const gc = await measureCollector(upstream.url, loader);
  say('Redis');
  const { version, rounds, placeBytes, placesAnEvent } = await measureRedis(
    upstream.url,
    loader,
    say,
  );
  const { append, page, take, read, bytes } = splitRounds(rounds, 1, TOGETHER);
  say('bytes, flushes');
  const embeddedBytes = await measureEmbeddedBytes(upstream.url, loader);
  const executedSmall = main('executed W1');
  const reality = rows
    .filter(({ target }) => target === 'gateway')
    .map(({ row, perSecond = 0, mainThreadUs = 0 }) => ({ what: row, perSecond, mainThreadUs }));

  const us = (value: number, what: string, by = HERE): Measured => ({
    value,
    unit: 'µs',
    what,
    by,
  });
  const figures: Record<FigureName, Measured> = {
    hotSmall: us(main('hot W1'), 'an operation, hot, small (W1)', BENCH),
    hotLarge: us(main('hot W2'), 'hot, large (W2)', BENCH),
    executedSmall: us(executedSmall, 'executed, small', BENCH),
    executedLarge: us(main('executed W2'), 'executed, large', BENCH),
    uncachedSmall: us(main('uncached W1'), 'uncached, small: 1 call', BENCH),
    uncachedLarge: us(main('uncached W2'), 'uncached, large: 278 calls', BENCH),
    takeInEmbedded: us(main('K webhook ingest'), 'a webhook, embedded log, 32 at once', BENCH),
    takeInGroup: us(take.group, 'a group of webhooks accepted, for Redis'),
    takeInEvent: us(take.event, 'each webhook of it'),
    readGroup: us(read.group, 'a page of events read from Redis'),
    readEvent: us(read.event, 'each event of it'),
    execute: us(subscribers.execute, 'an event executed for its first subscriber'),
    send: us(subscribers.send, 'each further subscriber with the same document'),
    redisAppendGroup: us(append.group, 'Redis: a group appended'),
    redisAppendEvent: us(append.event, 'Redis: each event of it'),
    redisReadGroup: us(page.group, 'Redis: a page read by one instance'),
    redisReadEvent: us(page.event, 'Redis: each event of it'),
    redisFlush: us(measureFlushUs(), 'a flush of this disk (waited for, not CPU)'),
    gcShare: { value: gc.share, unit: 'share', what: 'of that time, the collector', by: HERE },
    gcPause: us(gc.pauseUs, 'one of its pauses'),
    baseMemory: {
      value: subscribers.baseMb,
      unit: 'MB',
      what: 'an instance with one subscriber, resident',
      by: HERE,
    },
    subscriberMemory: {
      value: subscribers.subscriberBytes,
      unit: 'bytes',
      what: 'each subscriber, resident',
      by: HERE,
    },
    subscriberHeap: {
      value: subscribers.subscriberHeapBytes,
      unit: 'bytes',
      what: 'of that, JavaScript heap',
      by: HERE,
    },
    redisEventBytes: {
      value: bytes - placesAnEvent * placeBytes,
      unit: 'bytes',
      what: 'an event in Redis, with its keys',
      by: HERE,
    },
    redisLinkBytes: {
      value: placeBytes,
      unit: 'bytes',
      what: 'Redis: the places of one client',
      by: HERE,
    },
    embeddedEventBytes: {
      value: embeddedBytes,
      unit: 'bytes',
      what: 'an event in the embedded log, with its keys',
      by: HERE,
    },
  };
  const machine = `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.version}, Redis ${version}`;
  const cores = availableParallelism();
  const file: FiguresFile = { machine, cores, figures, redis: rounds, reality };
  writeFileSync(FIGURES_URL, `${JSON.stringify(file, rounded, 2)}\n`);
}

const rounded = (_: string, value: unknown) =>
  typeof value === 'number' ? Number(value.toPrecision(3)) : value;

function mainThreadOf(rows: readonly Figure[], name: string): number {
  const found = rows.find(({ row, target }) => row === name && target === 'gateway');
  if (found?.mainThreadUs === undefined) throw new Error(`the bench must have a row ${name}`);
  return found.mainThreadUs;
}
