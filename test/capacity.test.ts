import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { createAgenda } from '../bench/capacity/agenda.ts';
import {
  capacityOf,
  instancePieces,
  redisUtilization,
  utilizationOf,
} from '../bench/capacity/arithmetic.ts';
import { readFigures, valuesOf } from '../bench/capacity/figures.ts';
import { clinicians, webhooksAlone } from '../bench/capacity/load.ts';
import { sectionOf } from '../bench/capacity/markdown.ts';
import { createRandom } from '../bench/capacity/random.ts';
import { createRedisLoop } from '../bench/capacity/redis-loop.ts';
import { createSamples } from '../bench/capacity/samples.ts';
import { WIDE, sectionsOf } from '../bench/capacity/sections.ts';
import { simulate } from '../bench/capacity/simulate.ts';
import { createThread } from '../bench/capacity/thread.ts';

const file = readFigures();
const figures = valuesOf(file);

describe('the simulated thread', () => {
  it('keeps work waiting for as long as theory says', () => {
    const agenda = createAgenda();
    const random = createRandom(7);
    const waits = createSamples();
    const thread = createThread(agenda, () => true, waits);
    const [every, takes, endUs] = [100, 60, 10_000_000];
    const arrive = () => {
      thread.admit(random.exponential(takes));
      agenda.after(random.exponential(every), arrive);
    };
    agenda.after(0, arrive);
    agenda.run(endUs);
    const rho = takes / every;
    expect(thread.busyUs / endUs).toBeCloseTo(rho, 1);
    // For Poisson arrivals and exponential work both are known exactly.
    const mean = (rho * takes) / (1 - rho);
    const p99 = (takes * Math.log(100 * rho)) / (1 - rho);
    expect(waits.mean / mean).toBeGreaterThan(0.94);
    expect(waits.mean / mean).toBeLessThan(1.06);
    expect(waits.quantile(0.99) / p99).toBeGreaterThan(0.94);
    expect(waits.quantile(0.99) / p99).toBeLessThan(1.06);
  });
});

describe('the simulated Redis', () => {
  it('flushes once for all that waited', () => {
    const agenda = createAgenda();
    const redis = createRedisLoop(
      agenda,
      () => 1_000,
      () => true,
    );
    const answered: number[] = [];
    for (let i = 0; i < 3; i += 1) redis.write(10, () => answered.push(agenda.now));
    redis.read(10, () => answered.push(agenda.now));
    agenda.run(1e6);
    // The first was taken at once; the others waited, and share their flush.
    expect(answered).toEqual([1_010, 2_040, 2_040, 2_040]);
    expect(redis.flushUs).toBe(2_000);
  });
});

describe('the simulation', () => {
  const run = (seed: number) => {
    const load = webhooksAlone(400);
    return simulate({ load, instances: 3, figures, seed, seconds: 8, upstream: WIDE });
  };

  it('is the same for the same seed, and another for another', () => {
    expect(run(1)).toEqual(run(1));
    expect(run(2)).not.toEqual(run(1));
  });

  it('is as busy as the arithmetic says', () => {
    const { instanceUse, redisUse } = run(1);
    const load = webhooksAlone(400);
    const instance = utilizationOf(instancePieces(load, 3, figures));
    expect(Math.abs(instanceUse / instance - 1)).toBeLessThan(0.15);
    expect(Math.abs(redisUse / redisUtilization(load, 3, figures) - 1)).toBeLessThan(0.15);
  });
});

describe('the arithmetic', () => {
  it('lets sockets end what few instances hold, and Redis what many do', () => {
    expect(capacityOf(clinicians, 2, figures, WIDE).part).toBe('sockets');
    expect(capacityOf(clinicians, 32, figures, WIDE).part).toBe('Redis');
  });

  it('names the rate of the Partner API where that is what ends it', () => {
    const { amount, part } = capacityOf(clinicians, 4, figures, { ...WIDE, perSecond: 100 });
    expect(part).toBe("the API's rate");
    expect(amount).toBeLessThan(5_000);
  });
});

describe('the page on capacity', () => {
  const page = readFileSync(new URL('../docs/capacity.md', import.meta.url), 'utf8');
  it.each([...sectionsOf(file)])('has %s as computed from the figures', (name, content) => {
    expect(sectionOf(page, name)).toBe(content);
  });
});
