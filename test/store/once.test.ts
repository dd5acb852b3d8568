import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { BadInput, OperationError, StoreUnavailable } from '../../src/errors.ts';
import { createOnce } from '../../src/store/once.ts';
import type { KeyStore } from '../../src/store/store.ts';
import { type Engine, engines, range } from '../support/store/engines.ts';

const coded = (code: string) => new OperationError(code, code);
const failing = (code: string) => async (): Promise<never> => Promise.reject(coded(code));

/** Records its runs, each of which a test resolves or rejects. */
function createAction() {
  const runs: PromiseWithResolvers<string>[] = [];
  return {
    runs,
    run: () => {
      const running = Promise.withResolvers<string>();
      runs.push(running);
      return running.promise;
    },
  };
}

describe.each(engines)('an idempotent run over the $name store', ({ create }) => {
  let engine: Engine;
  beforeEach(async () => {
    engine = await create();
  });
  afterEach(() => engine[Symbol.asyncDispose]());

  it('runs one of twenty, and returns its outcome to all', async () => {
    const stores = await engine.open(2);
    const onces = stores.map(({ keys }) => createOnce(keys));
    const { run, runs } = createAction();
    const calls = range(0, 19).map(async (n) => onces[n % onces.length]?.('k', 'p', run));
    await expect.poll(() => runs.length).toBe(1);
    runs[0]?.resolve('done');
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['done']));
    expect(runs).toHaveLength(1);
  });

  it('rejects the key for other input, while it runs and afterwards', async () => {
    const [{ keys }] = await engine.open();
    const once = createOnce(keys);
    const { run, runs } = createAction();
    const first = once('k', 'p', run);
    await expect(once('k', 'q', run)).rejects.toThrow(BadInput);
    await expect.poll(() => runs.length).toBe(1);
    runs[0]?.resolve('done');
    await first;
    await expect(once('k', 'q', run)).rejects.toThrow(BadInput);
    await expect(createOnce(keys)('k', 'q', run)).rejects.toThrow(BadInput);
    expect(runs).toHaveLength(1);
  });

  it('has an unknown outcome for ever after an unclear end, even after a restart', async () => {
    const [{ keys }] = await engine.open();
    const { run, runs } = createAction();
    const first = createOnce(keys)('k', 'p', run);
    await expect.poll(() => runs.length).toBe(1);
    runs[0]?.reject(coded('OUTCOME_UNKNOWN'));
    await expect(first).rejects.toThrow('OUTCOME_UNKNOWN');
    const { keys: again } = await engine.reopen();
    await expect(createOnce(again)('k', 'p', run)).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
    });
    expect(runs).toHaveLength(1);
  });

  it('has an unknown outcome for a claim whose process must have crashed', async () => {
    const [{ keys }] = await engine.open();
    const { run, runs } = createAction();
    void createOnce(keys, () => Date.now() - 20_001)('k', 'p', run);
    await expect.poll(() => runs.length).toBe(1);
    await expect(createOnce(keys)('k', 'p', run)).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
    });
    expect(runs).toHaveLength(1);
  });

  it('frees the key after a failure that had no effect', async () => {
    const [{ keys }] = await engine.open();
    const once = createOnce(keys);
    const refused = once('k', 'p', failing('UPSTREAM_UNAVAILABLE'));
    await expect(refused).rejects.toThrow('UPSTREAM_UNAVAILABLE');
    expect(await once('k', 'p', async () => 'second')).toBe('second');
  });

  it('runs the next in line if the first was aborted before anything was sent', async () => {
    const [{ keys }] = await engine.open();
    const once = createOnce(keys);
    const { run, runs } = createAction();
    const [first, ...others] = range(1, 5).map(async () => once('k', 'p', run));
    await expect.poll(() => runs.length).toBe(1);
    runs[0]?.reject(coded('TIMEOUT'));
    await expect(first).rejects.toThrow('TIMEOUT');
    await expect.poll(() => runs.length).toBe(2);
    runs[1]?.resolve('second');
    expect(new Set(await Promise.all(others))).toEqual(new Set(['second']));
    expect(runs).toHaveLength(2);
  });
});

describe('an idempotent run over a store that fails after the send', () => {
  const engine = engines[0];

  it('returns the outcome, and sends nothing again', async () => {
    await using embedded = await engine.create();
    const [{ keys }] = await embedded.open();
    const once = createOnce({ ...keys, put: failing('THE_STORE_IS_DOWN') });
    expect(await once('k', 'p', async () => 'done')).toBe('done');
    const later = createOnce(keys, () => Date.now() + 60_000);
    await expect(later('k', 'p', async () => 'again')).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
    });
  });
});

it('runs after a claim that reached the store although it failed, and never twice', async () => {
  const stored = new Map<string, string>();
  let failsAt = 1;
  let claims = 0;
  const keys: KeyStore = {
    async claim(key, value) {
      const known = stored.get(key);
      if (known === undefined) stored.set(key, value);
      claims += 1;
      if (claims === failsAt) throw new StoreUnavailable('no replica confirmed the write');
      return known;
    },
    async put(values) {
      for (const [key, value] of Object.entries(values)) {
        if (value.includes('"done"')) throw new StoreUnavailable('down');
        stored.set(key, value);
      }
    },
    get: async (names) => names.map((name) => stored.get(name)),
    delete: async (key) => stored.delete(key),
  };
  let now = 0;
  const once = createOnce(keys, () => now);
  const { run, runs } = createAction();
  await expect(once('k', 'p', run)).rejects.toThrow(StoreUnavailable);
  const retry = once('k', 'p', run);
  await expect.poll(() => runs.length).toBe(1);
  runs[0]!.resolve('done');
  expect(await retry).toBe('done');
  // Its outcome could not be stored. A failed claim after that changes nothing.
  failsAt = claims + 1;
  await expect(once('k', 'p', run)).rejects.toThrow(StoreUnavailable);
  now = 60_000;
  await expect(once('k', 'p', run)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  expect(runs).toHaveLength(1);
});
