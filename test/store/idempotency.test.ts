import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { steadyNow } from '../../src/clock.ts';
import { BadInput, CodedError, StoreUnavailable } from '../../src/errors.ts';
import { createRunOnce } from '../../src/store/idempotency.ts';
import type { KeyStore } from '../../src/store/store.ts';
import { skipPauses } from '../support/skip-pauses.ts';
import { engines, range } from '../support/store/engines.ts';

const coded = (code: string) => new CodedError(code, code);

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

/** Resolves once this many have begun. Not `expect.poll`, which is for tests that run one after the other. */
const begun = (runs: readonly unknown[], count: number) =>
  vi.waitFor(() => expect(runs).toHaveLength(count), 20_000);

describe.each(engines)('an idempotent run over the $name store', ({ create }) => {
  it('rejects the key for other input, while it runs and afterwards', async () => {
    await using engine = await create();
    const [{ keys }] = await engine.open();
    const runOnce = createRunOnce(keys);
    const { run, runs } = createAction();
    const first = runOnce('k', 'p', run);
    await expect(runOnce('k', 'q', run)).rejects.toThrow(BadInput);
    await begun(runs, 1);
    runs[0]?.resolve('done');
    await first;
    await expect(runOnce('k', 'q', run)).rejects.toThrow(BadInput);
    await expect(createRunOnce(keys)('k', 'q', run)).rejects.toThrow(BadInput);
    expect(runs).toHaveLength(1);
  });

  it('runs the next in line if the first was aborted before anything was sent', async () => {
    await using engine = await create();
    const [{ keys }] = await engine.open();
    const runOnce = createRunOnce(keys);
    const { run, runs } = createAction();
    const [first, ...others] = range(1, 5).map(async () => runOnce('k', 'p', run));
    await begun(runs, 1);
    runs[0]?.reject(coded('TIMEOUT'));
    await expect(first).rejects.toThrow('TIMEOUT');
    await begun(runs, 2);
    runs[1]?.resolve('second');
    expect(new Set(await Promise.all(others))).toEqual(new Set(['second']));
    expect(runs).toHaveLength(2);
  });
});

/** Two instances of a store whose connection can be lost: commands then fail, and those that were sent arrive later. */
function createUnreachableStore() {
  const stored = new Map<string, string>();
  let isDown = false;
  const sent: (() => unknown)[] = [];
  const run = async <Reply>(command: () => Reply): Promise<Reply> => {
    if (!isDown) return command();
    sent.push(command);
    throw new StoreUnavailable('Redis did not answer');
  };
  const keys: KeyStore = {
    claim: (key, value) =>
      run(() => {
        const known = stored.get(key) ?? null;
        if (known === null) stored.set(key, value);
        return known;
      }),
    put: (values) =>
      run(() => {
        for (const [key, value] of Object.entries(values)) stored.set(key, value);
      }),
    get: (names) => run(() => names.map((name) => stored.get(name) ?? null)),
    delete: (key, value) => run(() => stored.get(key) === value && stored.delete(key)),
  };
  return {
    keys,
    stored,
    goDown: () => void (isDown = true),
    /** The commands that timed out are executed first. */
    comeBack() {
      isDown = false;
      for (const command of sent.splice(0)) command();
    },
    /** Executes them late, after the connection works again. */
    comeBackWithoutThem() {
      isDown = false;
      const late = sent.splice(0);
      return () => late.forEach((command) => command());
    },
  };
}

describe.concurrent('an idempotent run over a store that is lost for a while', () => {
  it('frees a claim that reached the store although it failed, for all instances', async () => {
    const { keys, stored, goDown, comeBack } = createUnreachableStore();
    await using one = createRunOnce(keys);
    const two = createRunOnce(keys);
    const { run, runs } = createAction();
    goDown();
    await expect(one('k', 'p', run)).rejects.toThrow(StoreUnavailable);
    comeBack();
    expect(stored.get('k')).toContain('running');
    const retry = two('k', 'p', run);
    await begun(runs, 1);
    runs[0]?.resolve('done');
    expect(await retry).toBe('done');
    expect(await one('k', 'p', run)).toBe('done');
  });

  it('runs at once after such a claim within the same process, and never twice', async () => {
    const { keys, goDown, comeBack } = createUnreachableStore();
    await using runOnce = createRunOnce(keys);
    const { run, runs } = createAction();
    goDown();
    await expect(runOnce('k', 'p', run)).rejects.toThrow(StoreUnavailable);
    comeBack();
    const retries = range(0, 4).map(async () => runOnce('k', 'p', run));
    await begun(runs, 1);
    runs[0]?.resolve('done');
    expect(new Set(await Promise.all(retries))).toEqual(new Set(['done']));
    expect(runs).toHaveLength(1);
  });

  it('stores the outcome when the store is back, and has it for this process until then', async () => {
    const { keys, goDown, comeBackWithoutThem } = createUnreachableStore();
    await using one = createRunOnce(keys);
    const { run, runs } = createAction();
    const first = one('k', 'p', run);
    await begun(runs, 1);
    goDown();
    runs[0]?.resolve('done');
    expect(await first).toBe('done');
    expect(await one('k', 'p', run)).toBe('done');
    comeBackWithoutThem();
    // On its clock the first process seems to have died.
    const two = createRunOnce(keys, 15_000, () => steadyNow() + 60_000);
    expect(await two('k', 'p', run)).toBe('done');
    expect(runs).toHaveLength(1);
  });

  it('stores outcomes before it deletes any claim, however many claims have failed since', async () => {
    const { keys, stored, goDown, comeBackWithoutThem } = createUnreachableStore();
    let doneAtFirstDelete: boolean | undefined;
    const observed: KeyStore = {
      ...keys,
      delete(key, value) {
        doneAtFirstDelete ??= stored.get('k')?.includes('done') ?? false;
        return keys.delete(key, value);
      },
    };
    const runOnce = createRunOnce(observed);
    const { run, runs } = createAction();
    const first = runOnce('k', 'p', run);
    await begun(runs, 1);
    goDown();
    runs[0]?.resolve('done');
    await first;
    for (const i of range(1, 20))
      await expect(runOnce(`other ${i}`, 'p', run)).rejects.toThrow(StoreUnavailable);
    comeBackWithoutThem();
    await runOnce[Symbol.asyncDispose]();
    expect(doneAtFirstDelete).toBe(true);
  });

  it('deletes the claim of a failure without effect later, and nothing else', async () => {
    const { keys, stored, goDown, comeBackWithoutThem } = createUnreachableStore();
    await using one = createRunOnce(keys);
    const two = createRunOnce(keys);
    const { run, runs } = createAction();
    const first = one('k', 'p', run);
    await begun(runs, 1);
    goDown();
    runs[0]?.reject(coded('UPSTREAM_UNAVAILABLE'));
    await expect(first).rejects.toThrow('UPSTREAM_UNAVAILABLE');
    const deliverLate = comeBackWithoutThem();
    const retry = two('k', 'p', run);
    await begun(runs, 2);
    const claimed = stored.get('k');
    deliverLate();
    expect(stored.get('k')).toBe(claimed);
    runs[1]?.resolve('second');
    expect(await retry).toBe('second');
    expect(runs).toHaveLength(2);
  });
});

it('deletes a claim that reaches the store within two minutes after it failed, and then forgets it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { keys, stored, goDown, comeBackWithoutThem } = createUnreachableStore();
  const deleted = vi.fn(keys.delete);
  const runOnce = createRunOnce({ ...keys, delete: deleted });
  const claimInVain = async () => {
    goDown();
    await expect(runOnce('k', 'p', async () => 'done')).rejects.toThrow(StoreUnavailable);
    return comeBackWithoutThem();
  };
  const deliverLate = await claimInVain();
  await vi.advanceTimersByTimeAsync(119_000);
  deliverLate();
  expect(stored.get('k')).toContain('running');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(stored.size).toBe(0);
  deleted.mockClear();
  await claimInVain();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(deleted).toHaveBeenCalledTimes(120);
});

describe('the wait for another process', () => {
  it('ends after three seconds with an unknown outcome if that one ended before it could store one', async () => {
    const { keys, goDown, comeBackWithoutThem } = createUnreachableStore();
    const { run, runs } = createAction();
    {
      await using one = createRunOnce(keys, 15_000, () => steadyNow() - 60_000);
      const first = one('k', 'p', run);
      await begun(runs, 1);
      goDown();
      runs[0]?.resolve('done');
      await first;
    }
    comeBackWithoutThem();
    const waitedMs = skipPauses();
    await expect(createRunOnce(keys)('k', 'p', run)).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
    });
    expect(runs).toHaveLength(1);
    expect(Math.floor(waitedMs() / 1_000)).toBe(3);
  });

  it('ends with the store, without claiming that nothing was changed', async () => {
    const { keys, goDown } = createUnreachableStore();
    const { run, runs } = createAction();
    const first = createRunOnce(keys)('k', 'p', run);
    const claim = vi.spyOn(keys, 'claim');
    const second = createRunOnce(keys)('k', 'p', run);
    await claim.mock.results[0]?.value;
    goDown();
    await expect(second).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: expect.stringContaining('send this one again, with the same key'),
    });
    runs[0]?.resolve('done');
    expect(await first).toBe('done');
  });

  it('ends after 15 seconds if its run is a long one, and a later caller gets the outcome', async () => {
    const { keys } = createUnreachableStore();
    const { run, runs } = createAction();
    // A run may take 40 seconds, and this one has taken 20.
    const first = createRunOnce(keys, 15_000, () => steadyNow() - 20_000)('k', 'p', run);
    const runOnce = createRunOnce(keys);
    const waitedMs = skipPauses();
    await expect(runOnce('k', 'p', run)).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: expect.stringContaining('send this one again, with the same key'),
    });
    expect(Math.floor(waitedMs() / 1_000)).toBe(15);
    runs[0]?.resolve('done');
    expect(await Promise.all([first, runOnce('k', 'p', run)])).toEqual(['done', 'done']);
    expect(runs).toHaveLength(1);
  });
});
