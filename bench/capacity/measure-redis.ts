import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { createClient } from 'redis';

import { MARK_MS } from '../../src/store/store.ts';
import { lockedMark } from '../../src/store/marks.ts';
import { PREFIX } from '../../src/store/redis/connection.ts';
import { freePort } from '../child.ts';
import { median } from '../figures.ts';
import { type Gateway, openGateway } from '../gateway.ts';
import type { Loader } from '../loader.ts';
import { webhookJob } from '../webhook-job.ts';
import { idOf } from '../world.ts';
import type { RedisRound } from './figures.ts';

/** Connections, and webhooks in a round. */
const ONE_BY_ONE = [1, 600] as const;
const TOGETHER = [32, 6_000] as const;
const ROUNDS = 6;
/** The other instances read the last events, and places of clients are written in the background. */
const SETTLED_MS = 600;
const MARKS = 10_000;

let next = 1;

/** One, two and three instances, on a new Redis each time. */
export async function measureRedis(
  upstreamUrl: string,
  loader: Loader,
  say: (line: string) => void,
) {
  const rounds: RedisRound[] = [];
  let version = '';
  for (const instances of [1, 2, 3]) {
    await using redis = await openRedis();
    ({ version } = redis);
    await using opened = new AsyncDisposableStack();
    const gateways: Gateway[] = [];
    for (let i = 0; i < instances; i += 1)
      gateways.push(opened.use(await openGateway(upstreamUrl, { REDIS_URL: redis.url })));
    for (const size of [TOGETHER, TOGETHER, ONE_BY_ONE])
      await measure(redis, gateways, loader, size);
    for (const size of [ONE_BY_ONE, TOGETHER]) {
      const all: RedisRound[] = [];
      for (let i = 0; i < ROUNDS; i += 1) all.push(await measure(redis, gateways, loader, size));
      const round = bestOf(all);
      say(JSON.stringify(round, (_, v: unknown) => (typeof v === 'number' ? +v.toFixed(1) : v)));
      rounds.push(round);
    }
  }
  return { version, rounds, markBytes: await measureMarkBytes(), ...costsOf(rounds) };
}

async function measure(
  redis: Awaited<ReturnType<typeof openRedis>>,
  gateways: readonly Gateway[],
  loader: Loader,
  [connections, maxCount]: readonly [number, number],
): Promise<RedisRound> {
  const usages = () => Promise.all([redis.usage(), ...gateways.map((gateway) => gateway.usage())]);
  const [redisBefore, ...before] = await usages();
  const bounds = { connections, durationMs: 20_000, maxCount };
  const job = webhookJob(gateways[0]?.url ?? '', next, bounds);
  const { count, failures, seconds, cpuUs } = await loader.run(job);
  next += count;
  if (failures > 0) throw new Error(`every webhook must be answered 2xx, but ${failures} were not`);
  await setTimeout(SETTLED_MS);
  const [redisAfter, ...after] = await usages();
  const growth = (of: 'mainThreadUs' | 'cpuUs') =>
    after.map((usage, i) => usage[of] - (before[i]?.[of] ?? 0));
  const [first = 0, ...others] = growth('mainThreadUs');
  const redisUs = redisAfter.cpuUs - redisBefore.cpuUs;
  const calls = (name: string) => redisAfter.callsOf(name) - redisBefore.callsOf(name);
  // Every append publishes, and every append and every read begins with an XREVRANGE.
  const appends = calls('publish');
  const reads = (calls('xrevrange') - appends) / gateways.length;
  return {
    instances: gateways.length,
    connections,
    perSecond: count / seconds,
    redisUs: redisUs / count,
    firstUs: first / count,
    otherUs: others.length === 0 ? 0 : sum(others) / others.length / count,
    allUs: (sum(growth('cpuUs')) + redisUs + cpuUs) / count,
    bytes: (redisAfter.memoryBytes - redisBefore.memoryBytes) / count,
    eventsPerAppend: count / appends,
    eventsPerRead: count / reads,
  };
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/** The key that a finalized note leaves in Redis, as the script of the event log writes it. */
async function measureMarkBytes(): Promise<number> {
  await using redis = await openRedis();
  const { memoryBytes: before } = await redis.usage();
  const marks = Array.from(
    { length: MARKS },
    (_, i) => `${PREFIX}fact:${lockedMark(idOf('note', i))}`,
  );
  await Promise.all(marks.map((key) => redis.client.set(key, '', { PX: MARK_MS })));
  return ((await redis.usage()).memoryBytes - before) / MARKS;
}

/** Other processes can only add to the CPU, so the lowest is the most exact. */
function bestOf(rounds: readonly RedisRound[]): RedisRound {
  const pick = (name: keyof RedisRound) => {
    const values = rounds.map((round) => round[name]);
    if (name === 'perSecond') return Math.max(...values);
    return name.endsWith('Us') ? Math.min(...values) : median(values);
  };
  const fields = Object.keys(rounds[0] ?? {}) as (keyof RedisRound)[];
  return Object.fromEntries(fields.map((name) => [name, pick(name)])) as unknown as RedisRound;
}

/** The CPU of Redis grows with the number of instances that read. That of an instance does not. */
function costsOf(rounds: readonly RedisRound[]) {
  const of = ([connections]: readonly [number, number]) => {
    const own = rounds.filter((round) => round.connections === connections);
    const several = own.filter(({ instances }) => instances > 1);
    const mean = (name: keyof RedisRound, among = own) =>
      sum(among.map((round) => round[name])) / among.length;
    const redis = lineThrough(own.map(({ instances, redisUs }) => [instances, redisUs]));
    return {
      append: { us: redis.at0, size: mean('eventsPerAppend') },
      redisRead: { us: redis.slope, size: mean('eventsPerRead') },
      ingest: {
        us: mean('firstUs', several) - mean('otherUs', several),
        size: mean('eventsPerAppend'),
      },
      read: { us: mean('otherUs', several), size: mean('eventsPerRead', several) },
      bytes: mean('bytes'),
    };
  };
  const [alone, together] = [of(ONE_BY_ONE), of(TOGETHER)];
  const split = (name: 'append' | 'redisRead' | 'ingest' | 'read') =>
    splitCosts(alone[name], together[name]);
  return {
    append: split('append'),
    redisRead: split('redisRead'),
    ingest: split('ingest'),
    read: split('read'),
    bytes: together.bytes,
  };
}

interface Point {
  /** Events in a batch, on average. */
  readonly size: number;
  /** Per event. */
  readonly us: number;
}

/** From two sizes of batch: an event costs batch ÷ size + event. */
function splitCosts(small: Point, large: Point) {
  const batch = Math.max(0, (small.us - large.us) / (1 / small.size - 1 / large.size));
  return { batch, event: Math.max(0, large.us - batch / large.size) };
}

/** By least squares. */
function lineThrough(points: readonly (readonly [x: number, y: number])[]) {
  const mean = (of: 0 | 1) => sum(points.map((point) => point[of])) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const slope =
    sum(points.map(([px, py]) => (px - x) * (py - y))) / sum(points.map(([px]) => (px - x) ** 2));
  return { at0: y - slope * x, slope };
}

const valueIn = (info: string, name: string) =>
  new RegExp(`^${name}:(.*)\\r$`, 'm').exec(info)?.[1] ?? '';

/** A new server with the durability that the operators' page asks for: every write is flushed before its answer. */
async function openRedis() {
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), 'partner-graph-capacity-'));
  const durable = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, ...durable];
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(server, 'exit');
  await new Promise<void>((resolve, reject) => {
    server.once('error', () => reject(new Error('redis-server must be installed, but is not')));
    server.stdout.on('data', (lines) => String(lines).includes('Ready to accept') && resolve());
  });
  const url = `redis://127.0.0.1:${port}`;
  const client = createClient({ url });
  await client.connect();
  return {
    url,
    client,
    version: valueIn(await client.info('server'), 'redis_version'),
    async usage() {
      const info = await client.info('everything');
      const seconds = (name: string) => Number(valueIn(info, `used_cpu_${name}_main_thread`));
      return {
        cpuUs: (seconds('user') + seconds('sys')) * 1e6,
        memoryBytes: Number(valueIn(info, 'used_memory')),
        callsOf: (name: string) =>
          Number(/calls=(\d+)/.exec(valueIn(info, `cmdstat_${name}`))?.[1] ?? 0),
      };
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      server.kill('SIGKILL');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
