import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { recordEndpoints } from '../../src/rest/records.ts';
import { createLimiter } from '../../src/rest/client/limiter.ts';
import type { CallQueue, Priority } from '../../src/rest/client/limiter.ts';
import { createUsage } from '../../src/rest/partner.ts';
import { writes } from '../../src/rest/endpoints.ts';
import { createFakeClock } from '../support/rest/fake-clock.ts';
import { codeOf, failureOf, id, loadersOf, setUp } from '../support/rest/partner.ts';
import type { Setup } from '../support/rest/partner.ts';
import { answer } from '../support/rest/upstream.ts';
import { until } from '../support/ws/raw-socket.ts';
import type { Script } from '../support/rest/upstream.ts';

const createCallQueue = (priority: Priority): CallQueue => ({ priority, calls: [] });

/** A limiter with one slot, taken; and the order in which calls were sent. */
function oneSlot() {
  const limiter = createLimiter(createFakeClock(), 1);
  const sent: string[] = [];
  const call = (name: string) => ({ isQueued: true, send: () => void sent.push(name) });
  const add = (name: string, queue: CallQueue) => {
    const added = call(name);
    expect(limiter.take()).toBe(false);
    limiter.enqueue(added, queue);
    return added;
  };
  expect(limiter.take()).toBe(true);
  const drain = () => {
    for (let i = 0; i < 20; i++) limiter.release();
    return sent;
  };
  return { add, drain, limiter };
}

describe('the limiter', () => {
  it('serves operations in turn, so that a large one does not delay a small one', () => {
    const { add, drain } = oneSlot();
    const [large, small] = [createCallQueue('read'), createCallQueue('read')];
    for (const n of [1, 2, 3]) add(`large ${n}`, large);
    add('small 1', small);
    expect(drain()).toEqual(['large 1', 'small 1', 'large 2', 'large 3']);
  });

  it('sends the token first, then mutations, then reads', () => {
    const { add, drain } = oneSlot();
    for (const priority of ['read', 'write', 'token'] as const)
      add(priority, createCallQueue(priority));
    expect(drain()).toEqual(['token', 'write', 'read']);
  });

  it('sends a call that two operations wait for once, at the first of their turns', () => {
    const { add, drain, limiter } = oneSlot();
    const [large, change] = [createCallQueue('read'), createCallQueue('write')];
    const calls = [1, 2, 3].map((n) => add(`large ${n}`, large));
    limiter.enqueue(calls[2]!, change);
    expect(limiter.state().queued).toBe(3);
    expect(drain()).toEqual(['large 3', 'large 1', 'large 2']);
    expect(limiter.state().queued).toBe(0);
  });

  it('skips calls that were aborted', () => {
    const { add, drain, limiter } = oneSlot();
    const queue = createCallQueue('read');
    add('gone', queue).isQueued = false;
    add('here', queue);
    add('gone too', createCallQueue('read')).isQueued = false;
    expect(drain()).toEqual(['here']);
    expect(limiter.state().queued).toBe(0);
  });

  it('survives ten thousand queued calls that fail as they are sent', () => {
    const limiter = createLimiter(createFakeClock(), 1);
    const queue = createCallQueue('read');
    let sent = 0;
    const send = () => {
      sent += 1;
      limiter.release();
    };
    limiter.take();
    for (let i = 0; i < 10_000; i++) limiter.enqueue({ isQueued: true, send }, queue);
    limiter.release();
    expect(sent).toBe(10_000);
  });

  it.each(['known', 'still requested'])(
    'sends a queued call soon that a small operation needs too, with a token that is %s',
    async (token) => {
      const joined = Promise.withResolvers<void>();
      const answerOnceJoined = async (_: unknown, response: ServerResponse) => {
        await joined.promise;
        answer(response, 200, { note: [] });
      };
      await using setup = await setUp((...args) => void answerOnceJoined(...args), {
        maxConcurrency: 1,
      });
      if (token === 'known') await setup.partner.check();
      const [large, small] = [loadersOf(setup.partner), loadersOf(setup.partner)];
      const reads = [1, 2, 3, 4, 5, 6].map(async (n) => large.record(recordEndpoints.note, id(n)));
      // A loader sends its reads after this turn.
      await new Promise(setImmediate);
      const needed = small.record(recordEndpoints.note, id(6));
      await setup.upstream.arrived(1);
      joined.resolve();
      await needed;
      expect(setup.upstream.seen.length).toBeLessThan(5);
      await Promise.all(reads);
      expect(setup.upstream.seen).toHaveLength(6);
    },
  );

  it('has as many calls in flight as allowed, and never more', async () => {
    const held: ServerResponse[] = [];
    const answerInFours = (_: unknown, response: ServerResponse) => {
      held.push(response);
      if (held.length < 4) return;
      for (const one of held.splice(0)) answer(one, 200, { note: [] });
    };
    await using setup = await setUp(answerInFours, { maxConcurrency: 4 });
    const loaders = loadersOf(setup.partner);
    await Promise.all(
      Array.from({ length: 40 }, async (_, n) => loaders.record(recordEndpoints.note, id(n + 1))),
    );
    expect(setup.upstream.seen).toHaveLength(40);
    expect(setup.upstream.maxInFlight).toBe(4);
    expect(setup.partner.state()).toMatchObject({ inFlight: 0, queued: 0 });
  });

  it('lets a retry wait for a slot until the 15 s of its call are over, and no longer', async () => {
    const clock = createFakeClock();
    const held: ServerResponse[] = [];
    const hold = (_: unknown, response: ServerResponse) => void held.push(response);
    await using setup = await setUp(hold, { clock, maxConcurrency: 1 });
    const read = codeOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)));
    await setup.upstream.arrived(1);
    clock.advance(1000);
    // It takes the slot as soon as the read has failed, and keeps it for 15 s.
    const edit = codeOf(setup.partner.send(writes.magicEdit, id(1), {}, createUsage()));
    answer(held[0]!, 500, {});
    await setup.upstream.arrived(2);
    clock.advance(13_000);
    expect(setup.partner.state()).toMatchObject({ inFlight: 1, queued: 1 });
    clock.advance(1000);
    expect(setup.partner.state()).toMatchObject({ inFlight: 1, queued: 0 });
    expect(await read).toBe('UPSTREAM_UNAVAILABLE');
    clock.advance(1000);
    expect(await edit).toBe('OUTCOME_UNKNOWN');
  });

  it('sends no retry that gets its slot too late, though the process stood still and no timer ran', async () => {
    const clock = createFakeClock();
    let stoodMs = 0;
    const late = { ...clock, now: () => clock.now() + stoodMs };
    const held: ServerResponse[] = [];
    const hold: Script = ({ number }, response) =>
      number > 2 ? answer(response, 200, { note: [] }) : void held.push(response);
    await using setup = await setUp(hold, { clock: late, maxConcurrency: 1 });
    const read = failureOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)));
    await setup.upstream.arrived(1);
    const edit = setup.partner.send(writes.magicEdit, id(1), {}, createUsage());
    answer(held[0]!, 500, {});
    await setup.upstream.arrived(2);
    stoodMs = 15_000;
    answer(held[1]!, 200, {});
    await edit;
    expect(await read).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      what: 'no clear answer within 15 s',
    });
    expect(setup.upstream.seen).toHaveLength(2);
  });
});

it('a retry that comes after the end of its call fails without a negative timer', async () => {
  const clock = createFakeClock();
  let lateMs = 0;
  const late = { ...clock, now: () => clock.now() + lateMs };
  const throttle: Script = (_request, response) =>
    answer(response, 429, { message: 'Limit Exceeded' }, { 'retry-after': '14' });
  await using setup = await setUp(throttle, { clock: late });
  const read = failureOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)));
  await setup.upstream.arrived(1);
  await until(() => setup.partner.state().inFlight === 0);
  lateMs = 2_000;
  clock.advance(14_000);
  expect(await read).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
});

describe('rate and quota', () => {
  it('spreads calls over the second, after a pause too', () => {
    const clock = createFakeClock();
    const limiter = createLimiter(clock, 100, { ratePerSecond: 10 });
    clock.advance(60_000);
    let sent = 0;
    const send = () => {
      sent += 1;
      limiter.spend();
    };
    for (let i = 0; i < 30; i++) {
      if (limiter.take()) send();
      else limiter.enqueue({ isQueued: true, send }, createCallQueue('read'));
    }
    expect(sent).toBe(1);
    for (let i = 0; i < 100; i++) clock.advance(10);
    expect(sent).toBe(11);
  });

  const setUpQuota = (clock: ReturnType<typeof createFakeClock>) =>
    setUp((_, response) => answer(response, 200, { note: [] }), { clock, dailyQuota: 3 });

  it('has a quota per day, reports when the next begins, and how much is left', async () => {
    const clock = createFakeClock();
    await using setup = await setUpQuota(clock);
    const loaders = loadersOf(setup.partner);
    await loaders.record(recordEndpoints.note, id(1));
    expect(setup.partner.state()).toMatchObject({ callsToday: 2, quotaRemaining: 1 });
    await loaders.record(recordEndpoints.note, id(2));
    expect(await failureOf(loaders.record(recordEndpoints.note, id(3)))).toMatchObject({
      code: 'UPSTREAM_RATE_LIMITED',
      retryAfter: 12 * 3600,
    });
    expect(setup.upstream.seen).toHaveLength(2);
    clock.jump(12 * 3600_000);
    expect(await loadersOf(setup.partner).record(recordEndpoints.note, id(3))).toBeDefined();
  });

  it('has no second quota for a day when the clock is set back to the day before', async () => {
    const clock = createFakeClock();
    await using setup = await setUpQuota(clock);
    const loaders = loadersOf(setup.partner);
    for (const n of [1, 2]) await loaders.record(recordEndpoints.note, id(n));
    clock.jump(-24 * 3600_000);
    expect(setup.partner.state()).toMatchObject({ callsToday: 3, quotaRemaining: 0 });
    expect(await codeOf(loaders.record(recordEndpoints.note, id(3)))).toBe('UPSTREAM_RATE_LIMITED');
    clock.jump(48 * 3600_000);
    expect(await loadersOf(setup.partner).record(recordEndpoints.note, id(3))).toBeDefined();
  });

  it('obtains a token past the quota, since the gateway would not be ready without one', async () => {
    await using setup = await setUp((_, response) => answer(response, 200, { note: [] }), {
      dailyQuota: 0,
    });
    await setup.partner.check();
    expect(setup.partner.state()).toMatchObject({ callsToday: 1, quotaRemaining: 0 });
    const loaders = loadersOf(setup.partner);
    const code = await codeOf(loaders.record(recordEndpoints.note, id(1)));
    expect(code).toBe('UPSTREAM_RATE_LIMITED');
  });

  it('counts only calls that are sent: none that the quota stops is charged or uses up the rate', async () => {
    const clock = createFakeClock();
    await using setup = await setUp((_, response) => answer(response, 200, { note: [] }), {
      clock,
      dailyQuota: 2,
      ratePerSecond: 1,
    });
    // The token takes the first permit of the rate.
    await setup.partner.check();
    const usage = createUsage();
    const loaders = setup.partner.loadersFor(usage);
    const loaded = [1, 2, 3].map(async (n) => loaders.record(recordEndpoints.note, id(n)));
    const stopped = Promise.all(loaded.slice(1).map(codeOf));
    await expect.poll(() => setup.partner.state().queued).toBe(3);
    clock.advance(1_000);
    expect(await loaded[0]).toBeDefined();
    clock.advance(1_000);
    expect(await stopped).toEqual(['UPSTREAM_RATE_LIMITED', 'UPSTREAM_RATE_LIMITED']);
    expect(usage.calls).toBe(1);
  });
});

/** Requests that many notes, four at a time, and returns the outcome of each. */
async function askFor(count: number, { partner }: Setup): Promise<string[]> {
  const outcomes: string[] = [];
  for (let n = 1; n <= count; n += 4) {
    const group = [n, n + 1, n + 2, n + 3].map(async (k) => {
      const note = Promise.resolve(loadersOf(partner).record(recordEndpoints.note, id(k)));
      return note.then(() => 'ok').catch(() => codeOf(note));
    });
    outcomes.push(...(await Promise.all(group)));
  }
  return outcomes;
}

describe('an outage', () => {
  let circuit: string[];
  const observer = { breakerChanged: (state: string) => void circuit.push(state) };
  beforeEach(() => {
    circuit = [];
  });

  it('ends with one probe that succeeds', async () => {
    const clock = createFakeClock();
    let isDown = true;
    await using setup = await setUp(
      (_, response) => answer(response, isDown ? 500 : 200, { note: [] }),
      { clock, observer },
    );
    await askFor(40, setup);
    isDown = false;
    const refused = await failureOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)));
    expect(refused.code).toBe('UPSTREAM_UNAVAILABLE');
    expect(refused.what).toBe(
      'not sent, since the circuit is open (last attempt: answered with status 500)',
    );
    clock.advance(2000);
    expect(await loadersOf(setup.partner).record(recordEndpoints.note, id(1))).toBeDefined();
    expect(circuit).toEqual(['open', 'closed']);
  });

  it('fails the calls that are queued when the circuit opens, without sending them', async () => {
    await using setup = await setUp((_, response) => answer(response, 500, {}), {
      maxConcurrency: 1,
    });
    const notes = Array.from({ length: 40 }, (_, n) =>
      codeOf(loadersOf(setup.partner).record(recordEndpoints.note, id(n + 1))),
    );
    expect(new Set(await Promise.all(notes))).toEqual(new Set(['UPSTREAM_UNAVAILABLE']));
    expect(setup.upstream.seen).toHaveLength(10);
  });

  it('of one route does not affect the others', async () => {
    await using setup = await setUp(
      ({ path }, response) =>
        answer(response, path.startsWith('/progress-notes') ? 500 : 200, { transcriptItems: [] }),
      { observer },
    );
    await askFor(40, setup);
    expect(circuit).toEqual(['open']);
    expect(await loadersOf(setup.partner).record(recordEndpoints.transcript, id(1))).toMatchObject({
      items: [],
    });
  });

  it.each<[string, Script]>([
    ['errors about the request', (_, response) => answer(response, 404, {})],
    ['answers that are no HTTP', (_, response) => void response.socket?.end('no HTTP')],
  ])('does not include %s', async (_, script) => {
    await using setup = await setUp(script, { observer });
    await askFor(60, setup);
    expect(circuit).toEqual([]);
  });
});
