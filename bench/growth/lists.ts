import { median } from '../figures.ts';
import { openGateway } from '../gateway.ts';
import type { Upstream } from '../upstream-control.ts';
import { idOf } from '../world.ts';
import { type Ask, createAsk } from './ask.ts';
import type { Plot } from './plot.ts';

const LENGTHS = [10, 100, 1_000, 10_000];
const WALKS = 3;

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
  await using gateway = await openGateway(upstream.url);
  const ask = await createAsk(gateway);
  for (let i = 0; i < 30; i += 1) await walk(ask, idOf('clinic', i, 1_000));

  const time: [number, number][] = [];
  const cpu: [number, number][] = [];
  const heap: [number, number][] = [];
  for (const [i, length] of LENGTHS.entries()) {
    const walks: { ms: number; cpuUs: number }[] = [];
    for (let j = 0; j < WALKS; j += 1) {
      const id = idOf('clinic', 1_000 + i * WALKS + j, length);
      const before = await gateway.usage();
      const startedAt = performance.now();
      const rows = await walk(ask, id);
      const ms = performance.now() - startedAt;
      if (rows !== length) throw new Error(`a walk must find ${length} rows, but found ${rows}`);
      walks.push({ ms, cpuUs: (await gateway.usage()).cpuUs - before.cpuUs });
    }
    time.push([length, (median(walks.map(({ ms }) => ms)) * 1_000) / length]);
    cpu.push([length, median(walks.map(({ cpuUs }) => cpuUs)) / length]);
    heap.push([length, (await gateway.usageAfterGc()).heapBytes / 2 ** 20]);
  }
  const x = 'clients in the list';
  return [
    {
      name: 'list-time',
      title: 'Reading a list to its end',
      x,
      tens: true,
      y: 'µs a row',
      series: [
        { name: 'time', points: time },
        { name: 'CPU', points: cpu },
      ],
    },
    {
      name: 'list-memory',
      title: 'Heap after reading a list',
      x,
      y: 'MB after a collection',
      series: [{ name: 'heap', points: heap }],
    },
  ];
}

async function walk(ask: Ask, id: string): Promise<number> {
  let rows = 0;
  let after: string | null = null;
  for (;;) {
    const { clinic }: Walked = await ask(DOCUMENT, { id, after });
    rows += clinic.clients.nodes.length;
    if (!clinic.clients.pageInfo.hasNextPage) return rows;
    after = clinic.clients.pageInfo.endCursor;
  }
}
