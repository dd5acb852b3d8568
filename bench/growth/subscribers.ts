import { nextEvent, openCrowd } from '../crowd.ts';
import { median } from '../figures.ts';
import { openGateway } from '../gateway.ts';
import type { Upstream } from '../upstream-control.ts';
import type { Plot } from './plot.ts';

const EVENTS = 5;
/** Sockets are files: what else is open must fit as well. */
const SPARE_FILES = 500;

interface Report {
  readonly userLimits: { readonly open_files: { readonly soft: number | 'unlimited' } };
}

function sizes(): readonly number[] {
  const { soft } = (process.report.getReport() as unknown as Report).userLimits.open_files;
  const most = soft === 'unlimited' ? 20_000 : Math.min(20_000, soft - SPARE_FILES);
  return [...[100, 500, 1_000, 2_000, 5_000, 10_000].filter((size) => size < most), most];
}

/** Everybody with the same document, in one growing crowd. */
export async function subscriberPlots(upstream: Upstream): Promise<readonly Plot[]> {
  await using gateway = await openGateway(upstream.url);
  using crowd = openCrowd(gateway.url, false);
  const time: [number, number][] = [];
  const cpu: [number, number][] = [];
  const heap: [number, number][] = [];
  for (const size of sizes()) {
    await crowd.grow(size);
    await crowd.settle(() => nextEvent(), size);
    heap.push([size, (await gateway.usageAfterGc()).heapBytes / 2 ** 20]);
    const before = await gateway.usage();
    const deliveries = Array.from({ length: EVENTS }, () => nextEvent());
    const { lastMs } = await crowd.fire(deliveries, size);
    const received = lastMs.filter((ms) => ms !== undefined);
    if (received.length < EVENTS) throw new Error('each event must reach everybody, but did not');
    time.push([size, median(received)]);
    cpu.push([size, ((await gateway.usage()).cpuUs - before.cpuUs) / EVENTS / 1_000]);
  }
  const x = 'subscribers with the same document';
  return [
    {
      name: 'subscribers-time',
      title: 'One event for everybody',
      x,
      y: 'ms an event',
      series: [
        { name: 'until the last has it', points: time },
        { name: 'CPU', points: cpu },
      ],
    },
    {
      name: 'subscribers-memory',
      title: 'Heap with so many subscribers',
      x,
      y: 'MB after a collection',
      series: [{ name: 'heap', points: heap }],
    },
  ];
}
