import type { Bench } from '../bench.ts';
import { type Crowd, nextEvent, openCrowd } from '../crowd.ts';
import { type Figure, median, megabytes, ratioOf } from '../figures.ts';
import { type Gateway, openGateway } from '../gateway.ts';

const MANY = 5_000;
const EVENTS_A_ROUND = 60;

/** S2: 5,000 subscribers that each want another clinician's events, against one subscriber alone. */
export async function filteredRows(bench: Bench): Promise<readonly Figure[]> {
  if (!bench.wants('S2')) return [];
  bench.say('S2');
  await using lonely = await openGateway(bench.upstream.url);
  await using crowded = await openGateway(bench.upstream.url);
  using one = openCrowd(lonely.url, true);
  using many = openCrowd(crowded.url, true);
  await joined(one, 1);
  await joined(many, MANY);
  // What is slow in the first events is the compiler's doing.
  for (let i = 0; i < 3; i += 1) {
    await cpuOfEvent(lonely, one);
    await cpuOfEvent(crowded, many);
  }

  const ofOne: number[] = [];
  const ofMany: number[] = [];
  for (let i = 0; i < bench.rounds; i += 1) {
    ofOne.push(await cpuOfEvent(lonely, one));
    ofMany.push(await cpuOfEvent(crowded, many));
  }
  const figure = async (target: string, own: readonly number[], gateway: Gateway) => ({
    row: 'S2 CPU of an event',
    target,
    ...ratioOf(own, ofOne, (cpuUs) => cpuUs),
    cpuUs: median(own),
    memoryMb: megabytes((await gateway.usage()).rssBytes),
  });
  const crowdedFigure = await figure('gateway, 5,000', ofMany, crowded);
  return [
    { ...crowdedFigure, goal: '≤ 1.5', met: crowdedFigure.ratio <= 1.5 },
    await figure('gateway, 1', ofOne, lonely),
  ];
}

/** Once the last subscriber has received an event, all are subscribed. */
async function joined(crowd: Crowd, size: number): Promise<void> {
  await crowd.grow(size);
  await crowd.settle(() => nextEvent(size), 1);
}

async function cpuOfEvent(gateway: Gateway, crowd: Crowd): Promise<number> {
  const deliveries = Array.from({ length: EVENTS_A_ROUND }, (_, i) =>
    nextEvent(1 + ((i * 83) % crowd.size)),
  );
  const before = await gateway.usage();
  const { lastMs } = await crowd.fire(deliveries, 1);
  const after = await gateway.usage();
  if (lastMs.includes(undefined)) throw new Error('each event must reach its one subscriber');
  return (after.cpuUs - before.cpuUs) / EVENTS_A_ROUND;
}
