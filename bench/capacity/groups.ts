import type { Figures } from './figures.ts';
import type { Load } from './load.ts';

/** While one group is under way the next one gathers: it holds one and what came meanwhile. */
export interface Groups {
  /** One round of Redis under load: what came in the last one, and one flush for all of it. */
  readonly roundUs: number;
  readonly taken: number;
  readonly read: number;
}

export function groupsOf({ webhooks }: Load, n: number, f: Figures): Groups {
  const perUs = webhooks / 1e6;
  let roundUs = f.redisFlush;
  for (let i = 0; i < 50; i += 1) {
    const came = perUs * roundUs;
    const fixed = Math.min(n, came) * f.redisAppendGroup + n * Math.min(1, came) * f.redisReadGroup;
    const next = f.redisFlush + fixed + came * (f.redisAppendEvent + n * f.redisReadEvent);
    if (next > 1e6) return { roundUs: 1e6, taken: 200, read: 500 };
    roundUs = next;
  }
  const own = perUs / n;
  // What others took in may come while this one still has to do with the last page; its own comes in step.
  const readUs = roundUs + f.readGroup + f.readEvent;
  const taken = 1 + own * roundUs;
  return { roundUs, taken, read: taken + (perUs - own) * readUs };
}
