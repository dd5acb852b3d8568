import { openGateway } from '../gateway.ts';
import type { Upstream } from '../upstream-control.ts';
import { idOf } from '../world.ts';
import { createAsk } from './ask.ts';
import type { Plot } from './plot.ts';

/** The gateway refuses what is deeper than 12. */
const DEPTHS = [2, 4, 6, 8, 10, 12];
const WARM_UPS = 300;
const REQUESTS = 300;

/** From a note to its session and back, over and over. The last level is a scalar. */
function documentOf(depth: number): string {
  const fields = Array.from({ length: depth - 2 }).reduceRight<string>(
    (below, _, i) => (i % 2 === 0 ? `session { ${below} }` : `progressNote { ${below} }`),
    '__typename',
  );
  return `query Deep($id: ID!, $hint: ID) { progressNote(id: $id, sessionId: $hint) { ${fields} } }`;
}

/** Each level must cost about what the one above it does. */
export async function depthPlots(upstream: Upstream): Promise<readonly Plot[]> {
  await using gateway = await openGateway(upstream.url);
  const ask = await createAsk(gateway);
  let n = 0;
  const many = async (depth: number, count: number) => {
    const query = documentOf(depth);
    for (let i = 0; i < count; i += 1) {
      n += 1;
      await ask(query, { id: idOf('note', 1), hint: idOf('session', n) });
    }
  };
  for (const depth of DEPTHS) await many(depth, WARM_UPS);

  const time: [number, number][] = [];
  const cpu: [number, number][] = [];
  for (const depth of DEPTHS) {
    const before = await gateway.usage();
    const startedAt = performance.now();
    await many(depth, REQUESTS);
    time.push([depth, ((performance.now() - startedAt) * 1_000) / REQUESTS]);
    cpu.push([depth, ((await gateway.usage()).cpuUs - before.cpuUs) / REQUESTS]);
  }
  return [
    {
      name: 'depth',
      title: 'A note, its session, the note again: depth',
      x: 'depth of the query',
      y: 'µs a request',
      series: [
        { name: 'time, one at a time', points: time },
        { name: 'CPU', points: cpu },
      ],
    },
  ];
}
