import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openEmbedded } from '../../src/store/sqlite/open.ts';
import { median } from '../figures.ts';
import { openGateway } from '../gateway.ts';
import type { Upstream } from '../upstream-control.ts';
import { BATCH, readUs, write } from './log-events.ts';
import type { Plot } from './plot.ts';
import { mediansOf } from './rounds.ts';

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
/** The last that are written at each size, at most, and how many before them it takes to be warm. */
const WRITTEN = 20_000;
const WARM_UP = 2_000;
/** Events that are read again, and how often. */
const READ = 5_000;
const READS = 9;
const STARTS = 5;
const RETENTION_MS = 7 * 24 * 3_600_000;

type Figure = 'append' | 'beginning' | 'middle' | 'end' | 'readyMs' | 'mb';
type Measured = Readonly<Partial<Record<Figure, number>>>;

/** The log from a thousand events to a million: what one more costs, what reading costs, what a start costs. */
export async function logPlots(upstream: Upstream): Promise<readonly Plot[]> {
  const dir = mkdtempSync(join(tmpdir(), 'partner-graph-growth-'));
  const measured: [size: number, Measured][] = [];
  try {
    let held = 0;
    for (const size of SIZES) {
      const written = await writing(dir, held, size);
      held = size;
      const read = await reading(dir, size);
      measured.push([size, { ...written, ...read, ...(await starting(upstream, dir)) }]);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  const points = (name: Figure) =>
    measured.flatMap(([size, { [name]: value }]) =>
      value === undefined ? [] : [[size, value] as const],
    );
  const x = 'events in the log';
  return [
    {
      name: 'log-events',
      title: 'One more event, and one read again',
      x,
      tens: true,
      y: 'µs an event',
      series: [
        { name: `append, durable, ${BATCH} at once`, points: points('append') },
        { name: 'read at the beginning of the log', points: points('beginning') },
        { name: 'read in its middle', points: points('middle') },
        { name: 'read at its end', points: points('end') },
      ],
    },
    {
      name: 'log-start',
      title: 'Starting with a long log',
      x,
      tens: true,
      y: 'ms until ready, MB',
      series: [
        { name: 'start, ms', points: points('readyMs') },
        { name: 'memory, MB', points: points('mb') },
      ],
    },
  ];
}

const openLog = (dir: string) => openEmbedded(dir, { retentionMs: RETENTION_MS });

/** What the last of them took. Nothing is said of a log so short that the store's thread is still being compiled. */
async function writing(dir: string, from: number, to: number): Promise<Measured> {
  await using store = await openLog(dir);
  const timedFrom = Math.max(to / 2, to - WRITTEN);
  await write(store, from, timedFrom);
  const append = await write(store, timedFrom, to);
  return timedFrom - from >= WARM_UP ? { append } : {};
}

/** By a store that was opened for it: the one that wrote the events has the newest in memory. */
async function reading(dir: string, size: number): Promise<Measured> {
  await using store = await openLog(dir);
  const count = Math.min(READ, size);
  const places = [0, Math.floor((size - count) / 2), size - count];
  for (let i = 0; i < READS; i += 1) await readUs(store, 0, count);
  const medians = await mediansOf(places, READS, async (after) => ({
    us: await readUs(store, after, count),
  }));
  const [beginning = 0, middle = 0, end = 0] = medians('us').map(([, us]) => us);
  return { beginning, middle, end };
}

async function starting(upstream: Upstream, dir: string): Promise<Measured> {
  const readyMs: number[] = [];
  const mb: number[] = [];
  for (let i = 0; i < STARTS; i += 1) {
    await using gateway = await openGateway(upstream.url, { EVENT_STORE_DIR: dir });
    readyMs.push(gateway.readyMs);
    mb.push((await gateway.usage()).rssBytes / 2 ** 20);
  }
  return { readyMs: median(readyMs), mb: median(mb) };
}
