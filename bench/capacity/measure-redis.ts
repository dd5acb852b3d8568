import { median } from '../figures.ts';
import { type Gateway, openGateway } from '../gateway.ts';
import type { Loader } from '../loader.ts';
import { webhookJob } from '../webhook-job.ts';
import type { RedisRound } from './figures.ts';
import { type RedisChild, openRedis } from './redis-child.ts';

const ALONE = 1;
export const TOGETHER = 32;
const COUNTS: Readonly<Record<number, number>> = { [ALONE]: 600, [TOGETHER]: 6_000 };
const ROUNDS = 6;
/** Links are written behind, four times a second. */
const SETTLED_MS = 1_000;

let next = 1;

export interface RedisFigures {
  readonly version: string;
  readonly rounds: readonly RedisRound[];
  /** Of one record, to know what it lies under; and how many of them an event tells of. */
  readonly placeBytes: number;
  readonly placesAnEvent: number;
}

/** One, two and three instances on a Redis of their own. */
export async function measureRedis(
  upstreamUrl: string,
  loader: Loader,
  say: (line: string) => void,
): Promise<RedisFigures> {
  const rounds: RedisRound[] = [];
  let version = '';
  let placeBytes = 0;
  let placesAnEvent = 0;
  for (const instances of [1, 2, 3]) {
    await using redis = await openRedis();
    ({ version } = redis);
    await using opened = new AsyncDisposableStack();
    const gateways: Gateway[] = [];
    for (let i = 0; i < instances; i += 1)
      gateways.push(opened.use(await openGateway(upstreamUrl, { REDIS_URL: redis.url })));
    const run = (connections: number) => measure(redis, gateways, loader, connections);
    for (const connections of [TOGETHER, TOGETHER, ALONE]) await run(connections);
    for (const connections of [ALONE, TOGETHER]) {
      const all: RedisRound[] = [];
      for (let i = 0; i < ROUNDS; i += 1) all.push(await run(connections));
      const round = leastOf(all);
      say(
        JSON.stringify(round, (_, value: unknown) =>
          typeof value === 'number' ? Math.round(value * 10) / 10 : value,
        ),
      );
      rounds.push(round);
    }
    const clients = await redis.count('fact:places:');
    placeBytes = (await redis.bytesOf('fact:places:')) / clients;
    placesAnEvent = clients / (await redis.usage()).events;
  }
  return { version, rounds, placeBytes, placesAnEvent };
}

async function measure(
  redis: RedisChild,
  gateways: readonly Gateway[],
  loader: Loader,
  connections: number,
): Promise<RedisRound> {
  const usages = () => Promise.all([redis.usage(), ...gateways.map((gateway) => gateway.usage())]);
  const [redisBefore, ...before] = await usages();
  const bounds = { connections, durationMs: 20_000, maxCount: COUNTS[connections] ?? 0 };
  const job = webhookJob(gateways[0]?.url ?? '', next, bounds);
  const { count, failures, seconds, cpuUs } = await loader.run(job);
  next += count;
  if (failures > 0) throw new Error(`every webhook must be answered 2xx, but ${failures} were not`);
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
  const [redisAfter, ...after] = await usages();
  const cpu = after.map(
    (usage, i) => (usage.mainThreadUs - (before[i]?.mainThreadUs ?? 0)) / count,
  );
  const [firstUs = 0, ...others] = cpu;
  const threads = after.map((usage, i) => usage.cpuUs - (before[i]?.cpuUs ?? 0));
  const allUs = threads.reduce((sum, us) => sum + us, cpuUs + redisAfter.cpuUs - redisBefore.cpuUs);
  const calls = (name: string) =>
    (redisAfter.calls.get(name) ?? 0) - (redisBefore.calls.get(name) ?? 0);
  // Every append publishes, and every append and every page begins with an XREVRANGE.
  const appends = Math.max(1, calls('publish'));
  const pages = Math.max(1, calls('xrevrange') - appends);
  return {
    instances: gateways.length,
    connections,
    perSecond: count / seconds,
    redisUs: (redisAfter.cpuUs - redisBefore.cpuUs) / count,
    firstUs,
    otherUs: others.length === 0 ? 0 : others.reduce((sum, us) => sum + us, 0) / others.length,
    allUs: allUs / count,
    bytes: (redisAfter.memoryBytes - redisBefore.memoryBytes) / count,
    taken: count / Math.min(count, appends),
    read: count / Math.min(count, Math.max(1, pages / gateways.length)),
  };
}

/** Whatever else the machine does can only add: the least of each is nearest to what it takes. */
function leastOf(rounds: readonly RedisRound[]): RedisRound {
  const names = Object.keys(rounds[0] ?? {}) as (keyof RedisRound)[];
  const pick = (name: keyof RedisRound) => {
    const values = rounds.map((round) => round[name]);
    if (name === 'perSecond') return Math.max(...values);
    return name.endsWith('Us') ? Math.min(...values) : median(values);
  };
  return Object.fromEntries(names.map((name) => [name, pick(name)])) as unknown as RedisRound;
}
