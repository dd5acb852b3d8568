import type { Bench } from '../bench.ts';
import { type Figure, median, megabytes, spread } from '../figures.ts';
import { openGateway } from '../gateway.ts';

const STARTS = 3;
const IDLE_MS = 1_000;
const MAX_MS = 1_500;
const MAX_MB = 150;

/** From the start of the process to `/readyz` saying yes, and what it takes up once it idles. */
export async function startRows(bench: Bench): Promise<readonly Figure[]> {
  if (!bench.wants('start')) return [];
  bench.say('start');
  const ms: number[] = [];
  const idleMb: number[] = [];
  for (let i = 0; i < STARTS; i += 1) {
    await using gateway = await openGateway(bench.upstream.url);
    ms.push(gateway.readyMs);
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    idleMb.push(megabytes((await gateway.usage()).rssBytes));
  }
  const isMet = median(ms) < MAX_MS && median(idleMb) < MAX_MB;
  return [
    {
      row: 'start to ready, idle memory',
      target: 'gateway',
      ms: median(ms),
      spread: spread(ms),
      memoryMb: median(idleMb),
      goal: '< 1500 ms, < 150 MB',
      met: isMet,
    },
  ];
}
