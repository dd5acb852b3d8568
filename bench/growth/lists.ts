import { openGateway } from '../gateway.ts';
import type { Upstream } from '../upstream-control.ts';
import { idOf } from '../world.ts';
import { type Ask, createAsk } from './ask.ts';
import type { Plot } from './plot.ts';
import { mediansOf } from './rounds.ts';

const LENGTHS = [10, 100, 1_000, 10_000];
const WARM_UPS = 60;
const ROUNDS = 8;
/** Short lists are read until there were this many rows: one of ten ends before anything can be measured. */
const ROWS_OF_A_ROUND = 2_000;
const HEAP_ROUNDS = 3;
/** Lists of ten, so that a gateway has compiled what it needs before its heap is looked at. */
const HEAP_WARM_UPS = 100;

const DOCUMENT = `query Walk($id: ID!, $after: String) {
  clinic(id: $id) {
    clients(first: 100, after: $after) { nodes { clientId } pageInfo { endCursor hasNextPage } }
  }
}`;

interface Walked {
  readonly clinic: {
    readonly clients: {
      readonly nodes: readonly unknown[];
      readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean };
    };
  };
}

/** A whole list, read to its end a hundred at a time: each row must cost the same, however long the list is. */
export async function listPlots(upstream: Upstream): Promise<readonly Plot[]> {
  const times = await timesOf(upstream);
  const heaps = await mediansOf(LENGTHS, HEAP_ROUNDS, async (length) => ({
    mb: await heapMb(upstream, length),
  }));
  const x = 'clients in the list';
  return [
    {
      name: 'list-time',
      title: 'Reading a list to its end',
      x,
      tens: true,
      y: 'µs a row',
      series: [
        { name: 'time', points: times('us') },
        { name: 'CPU', points: times('cpuUs') },
      ],
    },
    {
      name: 'list-memory',
      title: 'Heap after reading a list',
      x,
      y: 'MB after a collection',
      series: [{ name: 'heap of a gateway that has just read one such list', points: heaps('mb') }],
    },
  ];
}

/** Every list is one that was never read before. No collection is asked for: it throws away compiled code, too. */
async function timesOf(upstream: Upstream) {
  await using gateway = await openGateway(upstream.url);
  const ask = await createAsk(gateway);
  let clinics = 0;
  const many = async (length: number, count: number): Promise<void> => {
    for (let i = 0; i < count; i += 1) await walk(ask, (clinics += 1), length);
  };
  await many(1_000, WARM_UPS);
  return await mediansOf(LENGTHS, ROUNDS, async (length) => {
    const count = Math.ceil(ROWS_OF_A_ROUND / length);
    const before = await gateway.usage();
    const startedAt = performance.now();
    await many(length, count);
    const us = ((performance.now() - startedAt) * 1_000) / (count * length);
    return { us, cpuUs: ((await gateway.usage()).cpuUs - before.cpuUs) / (count * length) };
  });
}

/** Of a gateway for that list alone: in one for all of them, the caches would hold the others as well. */
async function heapMb(upstream: Upstream, length: number): Promise<number> {
  await using gateway = await openGateway(upstream.url);
  const ask = await createAsk(gateway);
  for (let i = 1; i <= HEAP_WARM_UPS; i += 1) await walk(ask, i, 10);
  await walk(ask, HEAP_WARM_UPS + 1, length);
  return (await gateway.usageAfterGc()).heapBytes / 2 ** 20;
}

async function walk(ask: Ask, clinic: number, length: number): Promise<void> {
  const id = idOf('clinic', clinic, length);
  let rows = 0;
  let after: string | null = null;
  for (;;) {
    const { clinic: read }: Walked = await ask(DOCUMENT, { id, after });
    rows += read.clients.nodes.length;
    if (!read.clients.pageInfo.hasNextPage) break;
    after = read.clients.pageInfo.endCursor;
  }
  if (rows !== length) throw new Error(`a walk must find ${length} rows, but found ${rows}`);
}
