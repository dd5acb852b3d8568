import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createAllowance } from '../../src/rest/allowance.ts';
import { cancel, createCancel } from '../../src/rest/cancel.ts';
import { createLane } from '../../src/rest/lane.ts';
import type { Lane } from '../../src/rest/lane.ts';
import { createLimiter } from '../../src/rest/limiter.ts';

import { createRetryBudget } from '../../src/rest/retry-budget.ts';
import { createFakeClock } from '../support/rest/fake-clock.ts';
import { codeOf, failureOf, id, loadersOf, setUp } from '../support/rest/partner.ts';
import type { Setup } from '../support/rest/partner.ts';
import { answer } from '../support/rest/upstream.ts';

/** A limiter with one slot, taken; and a record of whose turn it was. */
function oneSlot() {
  const clock = createFakeClock();
  const limiter = createLimiter(1, createAllowance(clock, undefined, undefined), clock);
  const turns: string[] = [];
  const queue = (name: string, lane: Lane, given = createCancel()) => {
    void limiter.take(lane, given).then((isGiven) => isGiven && turns.push(name));
    return given;
  };
  void limiter.take(createLane('read'), createCancel());
  const drain = async () => {
    for (let i = 0; i < 20; i++) {
      limiter.release();
      await setImmediate();
    }
    return turns;
  };
  return { drain, limiter, queue };
}

describe('the limiter', () => {
  it('takes operations in turn, so that a large one does not keep a small one waiting', async () => {
    const { drain, queue } = oneSlot();
    const [large, small] = [createLane('read'), createLane('read')];
    for (const n of [1, 2, 3]) queue(`large ${n}`, large);
    queue('small 1', small);
    expect(await drain()).toEqual(['large 1', 'small 1', 'large 2', 'large 3']);
  });

  it('lets the token go first, then mutations, then reads', async () => {
    const { drain, queue } = oneSlot();
    for (const rank of ['read', 'write', 'token'] as const) queue(rank, createLane(rank));
    expect(await drain()).toEqual(['token', 'write', 'read']);
  });

  it('passes over whoever has gone', async () => {
    const { drain, limiter, queue } = oneSlot();
    const lane = createLane('read');
    cancel(queue('gone', lane));
    queue('here', lane);
    cancel(queue('gone too', createLane('read')));
    expect(await drain()).toEqual(['here']);
    expect(limiter.queued).toBe(0);
  });

  it('has as many calls in flight as it may, and never more', async () => {
    const held: ServerResponse[] = [];
    const answerInFours = (_: unknown, response: ServerResponse) => {
      held.push(response);
      if (held.length < 4) return;
      for (const one of held.splice(0)) answer(one, 200, { note: [] });
    };
    await using setup = await setUp(answerInFours, { maxConcurrency: 4 });
    const loaders = loadersOf(setup.partner);
    await Promise.all(Array.from({ length: 40 }, async (_, n) => loaders.note(id(n + 1))));
    expect(setup.upstream.seen).toHaveLength(40);
    expect(setup.upstream.maxInFlight).toBe(4);
    expect(setup.partner.state()).toMatchObject({ inFlight: 0, queued: 0 });
  });
});

describe('the allowance', () => {
  it('spreads calls over the second', async () => {
    const clock = createFakeClock();
    const limiter = createLimiter(100, createAllowance(clock, 10, undefined), clock);
    let given = 0;
    for (let i = 0; i < 30; i++) {
      void limiter.take(createLane('read'), createCancel()).then(() => (given += 1));
    }
    await setImmediate();
    expect(given).toBe(1);
    for (let i = 0; i < 100; i++) {
      clock.advance(10);
      await setImmediate();
    }
    expect(given).toBe(11);
  });

  it('ends with the day, says when the next begins, and tells what is left', async () => {
    const clock = createFakeClock();
    await using setup = await setUp((_, response) => answer(response, 200, { note: [] }), {
      clock,
      dailyQuota: 3,
    });
    const loaders = loadersOf(setup.partner);
    await loaders.note(id(1));
    expect(setup.partner.state()).toMatchObject({ callsToday: 2, quotaRemaining: 1 });
    await loaders.note(id(2));
    expect(await failureOf(loaders.note(id(3)))).toMatchObject({
      code: 'UPSTREAM_RATE_LIMITED',
      retryAfter: 12 * 3600,
    });
    expect(setup.upstream.seen).toHaveLength(2);
    clock.jump(12 * 3600_000);
    expect(await loadersOf(setup.partner).note(id(3))).toBeDefined();
  });
});

describe('the retry budget', () => {
  it('allows a tenth of the calls, and ten in quiet times', () => {
    const budget = createRetryBudget(createFakeClock());
    let retries = 0;
    for (let i = 0; i < 1000; i++) {
      budget.deposit();
      if (budget.withdraw()) retries += 1;
    }
    expect(retries).toBeGreaterThanOrEqual(100);
    expect(retries).toBeLessThanOrEqual(111);
  });

  it('fills up again while nobody asks', () => {
    const clock = createFakeClock();
    const budget = createRetryBudget(clock);
    while (budget.withdraw());
    clock.advance(60_000);
    let retries = 0;
    while (budget.withdraw()) retries += 1;
    expect(retries).toBe(10);
  });
});

/** Asks for that many notes, four at a time; what became of each. */
async function askFor(count: number, { partner }: Setup): Promise<string[]> {
  const outcomes: string[] = [];
  for (let n = 1; n <= count; n += 4) {
    const group = [n, n + 1, n + 2, n + 3].map(async (k) => {
      const note = Promise.resolve(loadersOf(partner).note(id(k)));
      return note.then(() => 'ok').catch(() => codeOf(note));
    });
    outcomes.push(...(await Promise.all(group)));
  }
  return outcomes;
}

describe('an outage', () => {
  it('is not made worse: most calls fail fast, and none is anything but unavailable', async () => {
    await using setup = await setUp((_, response) => answer(response, 503, {}));
    const codes = await askFor(100, setup);
    expect(new Set(codes)).toEqual(new Set(['UPSTREAM_UNAVAILABLE']));
    expect(setup.upstream.seen.length).toBeLessThan(20);
    expect(setup.partner.state().breaker).toBe('open');
  });

  it('of every other call costs at most 1.2 calls for each that is asked', async () => {
    const clock = createFakeClock();
    await using setup = await setUp(
      ({ number }, response) => answer(response, number % 2 ? 503 : 200, { note: [] }),
      { clock },
    );
    for (let round = 0; round < 10; round++) {
      await askFor(20, setup);
      clock.advance(5000);
    }
    expect(setup.upstream.seen.length).toBeLessThanOrEqual(240);
  });

  it('ends with one probe that succeeds', async () => {
    const clock = createFakeClock();
    let isDown = true;
    await using setup = await setUp(
      (_, response) => answer(response, isDown ? 500 : 200, { note: [] }),
      { clock },
    );
    await askFor(40, setup);
    isDown = false;
    expect(await codeOf(loadersOf(setup.partner).note(id(1)))).toBe('UPSTREAM_UNAVAILABLE');
    clock.advance(2000);
    expect(await loadersOf(setup.partner).note(id(1))).toBeDefined();
    expect(setup.partner.state().breaker).toBe('closed');
  });

  it('of one route leaves the others alone', async () => {
    await using setup = await setUp(({ path }, response) =>
      answer(response, path.startsWith('/progress-notes') ? 500 : 200, { transcriptItems: [] }),
    );
    await askFor(40, setup);
    expect(setup.partner.state().breaker).toBe('open');
    expect(await loadersOf(setup.partner).transcript(id(1))).toMatchObject({ items: [] });
  });

  it('is not seen in answers about the request', async () => {
    await using setup = await setUp((_, response) => answer(response, 404, {}));
    await askFor(60, setup);
    expect(setup.partner.state().breaker).toBe('closed');
  });
});
