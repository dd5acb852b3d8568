import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { engines, range } from '../support/store/engines.ts';
import type { Engine } from '../support/store/engines.ts';

const HOUR_MS = 3_600_000;

describe.each(engines)('the keys of the $name store', ({ create }) => {
  let engine: Engine;
  beforeEach(async () => {
    engine = await create();
  });
  afterEach(() => engine[Symbol.asyncDispose]());

  it('gives a claim to one of twenty, and its holder to the others', async () => {
    const stores = await engine.open(3);
    const answers = await Promise.all(
      range(0, 19).map(async (n) => stores[n % 3]?.keys.claim('edit-1', `viewer-${n}`, HOUR_MS)),
    );
    const winner = `viewer-${answers.indexOf(null)}`;
    expect(answers.filter((answer) => answer === null)).toHaveLength(1);
    expect(new Set(answers)).toEqual(new Set([null, winner]));
    expect(await stores[0].keys.get(['edit-1'])).toEqual([winner]);
  });

  it('puts, reads in the requested order, and deletes only the value that is named', async () => {
    const [{ keys }] = await engine.open();
    await keys.put({ a: '1', b: '2' }, HOUR_MS);
    await keys.put({ a: '3' }, HOUR_MS);
    expect(await keys.get(['b', 'none', 'a'])).toEqual(['2', null, '3']);
    expect(await keys.delete('a', '1')).toBe(false);
    expect(await keys.get(['a'])).toEqual(['3']);
    expect(await keys.delete('a', '3')).toBe(true);
    expect(await keys.delete('a', '3')).toBe(false);
    expect(await keys.get(['a'])).toEqual([null]);
  });

  it('keeps them over a restart', async () => {
    const [{ keys }] = await engine.open();
    await keys.claim('a', 'mine', HOUR_MS);
    const { keys: again } = await engine.reopen();
    expect(await again.claim('a', 'yours', HOUR_MS)).toBe('mine');
  });

  it('releases a claim when it expires', async () => {
    const [{ keys }] = await engine.open();
    await keys.claim('a', 'mine', 1);
    await expect.poll(() => keys.get(['a'])).toEqual([null]);
    expect(await keys.claim('a', 'yours', HOUR_MS)).toBeNull();
  });
});

describe.each(engines)('the $name quarantine', ({ create }) => {
  let engine: Engine;
  beforeEach(async () => {
    engine = await create();
  });
  afterEach(() => engine[Symbol.asyncDispose]());

  it('lists its entries, oldest first, until they are removed', async () => {
    const [{ quarantine }] = await engine.open();
    for (const n of [1, 2, 3])
      await quarantine.add({ receivedAt: n, reason: 'odd', body: `{${n}}` });
    const [first, second] = await quarantine.list(2);
    expect(first).toMatchObject({ receivedAt: 1, reason: 'odd', body: '{1}' });
    await quarantine.remove(second?.id ?? '');
    const { quarantine: again } = await engine.reopen();
    expect((await again.list(10)).map(({ receivedAt }) => receivedAt)).toEqual([1, 3]);
    expect(await again.count()).toBe(2);
  });

  it('drops the oldest entries past ten thousand', async () => {
    const [{ quarantine }] = await engine.open();
    const add = (n: number) => quarantine.add({ receivedAt: n, reason: 'odd', body: '' });
    // In parts: on a busy machine Redis may time out on all of them at once.
    for (let n = 1; n <= 10_000; n += 500) await Promise.all(range(n, n + 499).map(add));
    await add(10_001);
    const [oldest, next] = await quarantine.list(2);
    expect([await quarantine.count(), oldest?.receivedAt]).toEqual([10_000, 2]);
    // One that was removed makes room for another.
    await quarantine.remove(next?.id ?? '');
    await add(10_002);
    expect([await quarantine.count(), await quarantine.list(1)]).toEqual([10_000, [oldest]]);
  });
});
