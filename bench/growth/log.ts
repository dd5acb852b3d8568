import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { NewEvent } from '../../src/store/event-log.ts';
import { type Store, openStore } from '../../src/store/store.ts';
import { noteReady } from '../events.ts';
import { openGateway } from '../gateway.ts';
import type { Upstream } from '../upstream-control.ts';
import { idOf } from '../world.ts';
import type { Plot } from './plot.ts';

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const BATCH = 500;
/** Events that are appended, and read again, to be timed at each size. */
const TIMED = 5_000;
const RETENTION_MS = 7 * 24 * 3_600_000;

/** The log from a thousand events to a million: what one more costs, what reading costs, what a start costs. */
export async function logPlots(upstream: Upstream): Promise<readonly Plot[]> {
  const dir = mkdtempSync(join(tmpdir(), 'partner-graph-growth-'));
  const append: [number, number][] = [];
  const replay: [number, number][] = [];
  const start: [number, number][] = [];
  const memory: [number, number][] = [];
  try {
    let next = 1;
    for (const size of SIZES) {
      {
        await using store = await openStore(
          { kind: 'embedded', dir },
          { retentionMs: RETENTION_MS },
        );
        next = await appendTo(store, next, size - TIMED);
        const startedAt = performance.now();
        const appended = next;
        next = await appendTo(store, next, Math.max(size, next + TIMED / 5));
        append.push([size, perEvent(startedAt, next - appended)]);
        replay.push([size, await replayFrom(store, 0)]);
      }
      await using gateway = await openGateway(upstream.url, { EVENT_STORE_DIR: dir });
      start.push([size, gateway.readyMs]);
      memory.push([size, (await gateway.usage()).rssBytes / 2 ** 20]);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  const x = 'events in the log';
  return [
    {
      name: 'log-events',
      title: 'One more event, and one read again',
      x,
      tens: true,
      y: 'µs an event',
      series: [
        { name: `append, durable, ${BATCH} at once`, points: append },
        { name: 'replay from the beginning', points: replay },
      ],
    },
    {
      name: 'log-start',
      title: 'Starting with a long log',
      x,
      tens: true,
      y: 'ms until ready, MB',
      series: [
        { name: 'start, ms', points: start },
        { name: 'memory, MB', points: memory },
      ],
    },
  ];
}

const perEvent = (startedAt: number, count: number): number =>
  ((performance.now() - startedAt) * 1_000) / count;

async function appendTo({ log }: Store, from: number, to: number): Promise<number> {
  let next = from;
  while (next < to) {
    const count = Math.min(BATCH, to - next);
    await log.append(Array.from({ length: count }, (_, i) => eventOf(next + i)));
    next += count;
  }
  return next;
}

function eventOf(n: number): NewEvent {
  return {
    key: `progress_note_generated:${idOf('note', n)}`,
    occurredAt: new Date(1_750_000_000_000 + n).toISOString(),
    receivedAt: Date.now(),
    subject: `session:${idOf('session', n)}`,
    body: noteReady(n).body,
  };
}

async function replayFrom({ log }: Store, after: number): Promise<number> {
  const startedAt = performance.now();
  let count = 0;
  while (count < TIMED) {
    const events = await log.read(after + count, BATCH);
    if (events.length === 0) break;
    count += events.length;
  }
  return perEvent(startedAt, count);
}
