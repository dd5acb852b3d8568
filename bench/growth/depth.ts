import { median } from '../figures.ts';
import { type Gateway, openGateway } from '../gateway.ts';
import type { Upstream } from '../upstream-control.ts';
import { idOf } from '../world.ts';
import { type Ask, createAsk } from './ask.ts';
import type { Plot } from './plot.ts';
import { mediansOf } from './rounds.ts';

/** The gateway refuses what is deeper than 12. */
const DEPTHS = [2, 4, 6, 8, 10, 12];
const WARM_UPS = 1_000;
const ROUNDS = 24;
/** Of a round: not timed, since the one before was of another depth; and timed. */
const SETTLING = 20;
const REQUESTS = 100;
/** So few at once that most of these groups see no collection. */
const GROUPS = 10;
const OF_A_GROUP = 5;
/** Requests of one depth that a gateway has answered before its heap is looked at. */
const KEPT = 1_000;

/** From a note to its session and back, over and over. The last level is a scalar. */
function documentOf(depth: number): string {
  const fields = Array.from({ length: depth - 2 }).reduceRight<string>(
    (below, _, i) => (i % 2 === 0 ? `session { ${below} }` : `progressNote { ${below} }`),
    '__typename',
  );
  return `query Deep($id: ID!) { progressNote(id: $id) { ${fields} } }`;
}

/** The same note each time, and another undeclared variable: every query is executed, and nothing asked of the Partner API. */
function asking(ask: Ask) {
  let n = 0;
  return async (depth: number, count: number): Promise<void> => {
    const query = documentOf(depth);
    for (let i = 0; i < count; i += 1) {
      n += 1;
      await ask(query, { id: idOf('note', 1), n });
    }
  };
}

type Many = ReturnType<typeof asking>;

/** Each level must cost about what the one above it does. */
export async function depthPlots(upstream: Upstream): Promise<readonly Plot[]> {
  await using gateway = await openGateway(upstream.url);
  const many = asking(await createAsk(gateway));
  for (const depth of DEPTHS) await many(depth, WARM_UPS);
  const medians = await mediansOf(DEPTHS, ROUNDS, async (depth) => {
    await many(depth, SETTLING);
    return { ...(await timed(gateway, many, depth)), made: await madeKb(gateway, many, depth) };
  });
  const heap: [number, number][] = [];
  for (const depth of DEPTHS) heap.push([depth, await heapMb(upstream, depth)]);
  const x = 'depth of the query';
  return [
    {
      name: 'depth',
      title: 'A note, its session, the note again: depth',
      x,
      y: 'µs a request',
      series: [
        { name: 'time, one at a time', points: medians('us') },
        { name: 'CPU', points: medians('cpuUs') },
      ],
    },
    {
      name: 'depth-memory',
      title: 'Memory that a deeper query takes',
      x,
      y: 'KB a request, MB',
      series: [
        { name: 'made on the heap by a request, most of it garbage, KB', points: medians('made') },
        { name: `heap after ${KEPT} such requests and a collection, MB`, points: heap },
      ],
    },
  ];
}

async function timed(gateway: Gateway, many: Many, depth: number) {
  const before = await gateway.usage();
  const startedAt = performance.now();
  await many(depth, REQUESTS);
  const us = ((performance.now() - startedAt) * 1_000) / REQUESTS;
  return { us, cpuUs: ((await gateway.usage()).cpuUs - before.cpuUs) / REQUESTS };
}

/** How much the heap grows from one look to the next. A collection in between makes it shrink: the median leaves that out. */
async function madeKb(gateway: Gateway, many: Many, depth: number): Promise<number> {
  const grown: number[] = [];
  for (let i = 0; i < GROUPS; i += 1) {
    const before = await gateway.usage();
    await many(depth, OF_A_GROUP);
    grown.push((await gateway.usage()).heapBytes - before.heapBytes);
  }
  return median(grown) / OF_A_GROUP / 1_024;
}

/** Of a gateway that was asked nothing else, so that no other depth's answers are in its caches. */
async function heapMb(upstream: Upstream, depth: number): Promise<number> {
  await using gateway = await openGateway(upstream.url);
  await asking(await createAsk(gateway))(depth, KEPT);
  return (await gateway.usageAfterGc()).heapBytes / 2 ** 20;
}
