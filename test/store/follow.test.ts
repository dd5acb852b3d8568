import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventLog } from '../../src/store/store.ts';
import { engines, epochOf, eventOf, follow, range } from '../support/store/engines.ts';
import type { Engine } from '../support/store/engines.ts';

async function positionsFrom(log: EventLog, after: number, upTo: number): Promise<number[]> {
  const positions: number[] = [];
  for await (const batch of follow(log, after, await epochOf(log))) {
    positions.push(...batch.map(({ position }) => position));
    if (positions.at(-1) === upTo) break;
  }
  return positions;
}

describe.each(engines)('following the $name log', ({ create }) => {
  let engine: Engine;
  beforeEach(async () => {
    engine = await create();
  });
  afterEach(() => engine[Symbol.asyncDispose]());

  it('returns every event once and in order while three instances append', async () => {
    const stores = await engine.open(3);
    await stores[0].log.append(range(1, 30).map((n) => eventOf(`first-${n}`)));
    const followers = stores.map(({ log }, n) => positionsFrom(log, n * 10, 630));
    for (let round = 0; round < 20; round++) {
      await Promise.all(
        stores.map(({ log }, s) =>
          log.append(range(1, 10).map((n) => eventOf(`${s}-${round}-${n}`))),
        ),
      );
    }
    expect(await Promise.all(followers)).toEqual([range(1, 630), range(11, 630), range(21, 630)]);
  });

  it('resumes anywhere in a log larger than memory', async () => {
    const [{ log }] = await engine.open();
    for (const part of range(0, 4)) {
      await log.append(range(1, 1_000).map((n) => eventOf(`${part}-${n}`)));
    }
    const [far, near] = await Promise.all([
      positionsFrom(log, 0, 5_000),
      positionsFrom(log, 4_990, 5_000),
    ]);
    expect(far).toEqual(range(1, 5_000));
    expect(near).toEqual(range(4_991, 5_000));
    const { log: again } = await engine.reopen();
    expect(await positionsFrom(again, 4_995, 5_000)).toEqual(range(4_996, 5_000));
  });
});
