import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DAY_MS, engines, epochOf, eventOf, range } from '../support/store/engines.ts';
import type { Engine } from '../support/store/engines.ts';

const at = (n: number) => ({ time: new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString() });

describe.each(engines)('the $name log', ({ create }) => {
  let engine: Engine;
  beforeEach(async () => {
    engine = await create();
  });
  afterEach(() => engine[Symbol.asyncDispose]());

  it('numbers events from one, without gaps, omitting duplicates', async () => {
    const [{ log }] = await engine.open();
    const first = await log.append([eventOf('a'), eventOf('b'), eventOf('a')]);
    const second = await log.append([eventOf('b'), eventOf('c')]);
    expect(first).toEqual([1, 2, 0]);
    expect(second).toEqual([0, 3]);
  });

  it('keeps one of twenty duplicates that arrive at each of three instances at once', async () => {
    const stores = await engine.open(3);
    const accepted: number[] = [];
    for (const hundred of range(0, 1)) {
      const copies = range(1, 100).flatMap((n) =>
        range(1, 20).map(() => eventOf(`${hundred}-${n}`, n % 2 === 0 ? at(n) : {})),
      );
      const answers = await Promise.all(
        stores.flatMap(({ log }) => copies.map((event) => log.append([event]))),
      );
      accepted.push(...answers.flat().filter((position) => position > 0));
    }
    expect(accepted.toSorted((a, b) => a - b)).toEqual(range(1, 200));
    expect((await stores[0].log.read(0, 1_000)).events).toHaveLength(200);
  });

  it('reads back what was appended, from any position on', async () => {
    const [{ log }] = await engine.open();
    const events = ['a', 'b', 'c'].map((key) =>
      eventOf(key, { receivedAt: 17, body: `{"é":"${key}"}` }),
    );
    await log.append(events);
    expect((await log.read(1, 1)).events).toEqual([
      { position: 2, receivedAt: 17, body: '{"é":"b"}' },
    ]);
    expect((await log.read(0, 10)).events.map(({ position }) => position)).toEqual([1, 2, 3]);
    expect((await log.read(3, 10)).events).toEqual([]);
  });

  it('keeps events, keys, times and its epoch over a restart', async () => {
    const [{ log }] = await engine.open();
    await log.append([eventOf('a', at(1)), eventOf('b')]);
    const epoch = await epochOf(log);
    const { log: again } = await engine.reopen();
    expect(await epochOf(again)).toBe(epoch);
    expect((await again.read(0, 10)).events).toHaveLength(2);
    expect(await again.append([eventOf('a', at(1)), eventOf('b')])).toEqual([0, 0]);
    expect(await again.append([eventOf('a', at(2))])).toEqual([3]);
  });

  it('finds the events of a subject', async () => {
    const [{ log }] = await engine.open();
    const events = [1, 2, 1].map((n, key) => eventOf(`${key}`, { subject: `session:${n}` }));
    await log.append(events);
    expect((await log.ofSubject('session:1', 1_000)).map(({ position }) => position)).toEqual([
      1, 3,
    ]);
    expect(await log.ofSubject('session:3', 1_000)).toEqual([]);
  });

  it('sets the mark of an event in the same step, and nothing with a copy', async () => {
    const [{ log }] = await engine.open();
    await log.append([eventOf('a', { mark: 'locked:1' }), eventOf('b')]);
    await log.append([eventOf('b', { mark: 'locked:2' })]);
    const { keys } = await engine.reopen();
    expect(await keys.get(['locked:1', 'locked:2'])).toEqual(['', null]);
  });

  it('treats a stored key as new with a time not yet accepted, and as a duplicate otherwise', async () => {
    const [{ log }] = await engine.open();
    const answers = await log.append([1, 2, 1, 3, 2].map((n) => eventOf('a', at(n))));
    expect(answers).toEqual([1, 2, 0, 3, 0]);
    expect(await log.append([eventOf('b', at(1))])).toEqual([4]);
  });

  it('identifies an event without a time by its key only', async () => {
    const [{ log }] = await engine.open();
    await log.append([eventOf('a', at(1)), eventOf('b')]);
    expect(await log.append([eventOf('a'), eventOf('b')])).toEqual([0, 0]);
    expect(await log.append([eventOf('b', at(1))])).toEqual([3]);
    expect(await log.append([eventOf('b', at(1)), eventOf('b')])).toEqual([0, 0]);
  });

  it('trims events past retention and reports its first position', async () => {
    const now = Date.now();
    const [{ log }] = await engine.open(1, { retentionMs: DAY_MS, clock: () => now });
    const old = Array.from({ length: 1_200 }, (_, n) =>
      eventOf(`old-${n}`, { receivedAt: now - 2 * DAY_MS, subject: 'session:1' }),
    );
    await log.append([...old, eventOf('new', { receivedAt: now })]);
    await log.trim();
    expect(await log.bounds()).toMatchObject({ oldest: 1_200, newest: 1_201 });
    expect((await log.read(0, 10)).events.map(({ position }) => position)).toEqual([1_201]);
    expect(await log.ofSubject('session:1', 1_000)).toEqual([]);
    expect(await log.append([eventOf('old-7')])).toEqual([0]);
  });

  it('never uses a position twice, even when all events are trimmed', async () => {
    const now = Date.now();
    const [{ log }] = await engine.open(1, { retentionMs: DAY_MS, clock: () => now });
    await log.append([eventOf('a', { receivedAt: now - 2 * DAY_MS })]);
    await log.trim();
    expect(await log.bounds()).toMatchObject({ oldest: 1, newest: 1 });
    const { log: again } = await engine.reopen();
    expect(await again.bounds()).toMatchObject({ oldest: 1, newest: 1 });
    expect(await again.append([eventOf('b')])).toEqual([2]);
  });

  it('keeps all events of a process whose clock is some days behind', async () => {
    const now = Date.now();
    const [{ log }] = await engine.open(1, { retentionMs: DAY_MS, clock: () => now });
    await log.append([eventOf('later', { receivedAt: now + 20 * DAY_MS })]);
    await log.trim();
    expect((await log.read(0, 10)).events).toHaveLength(1);
  });

  it('trims past an event with a receipt time years ahead', async () => {
    const now = Date.now();
    const [{ log }] = await engine.open(1, { retentionMs: DAY_MS, clock: () => now });
    const ahead = eventOf('ahead', { receivedAt: now + 1_000 * DAY_MS });
    await log.append([ahead, eventOf('old', { receivedAt: now - 2 * DAY_MS }), eventOf('new')]);
    await log.trim();
    expect((await log.bounds()).oldest).toBe(2);
  });
});
