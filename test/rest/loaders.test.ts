import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { cachePathOf, listKeyOf } from '../../src/rest/lists.ts';
import type { CacheEntry } from '../../src/rest/cache.ts';
import { type NoteRecord, recordEndpoints } from '../../src/rest/records.ts';
import { createUsage } from '../../src/rest/partner.ts';
import { createFakeClock } from '../support/rest/fake-clock.ts';
import { codeOf, id, loadersOf, setUp } from '../support/rest/partner.ts';
import { answer, envelope, pageBody } from '../support/rest/upstream.ts';
import type { Script } from '../support/rest/upstream.ts';

/** A note with the number of the call that fetched it. */
const numbered: Script = ({ number }, response) =>
  answer(response, 200, { isLoading: false, note: [number] });

/** Responses that are held until the test releases them. */
function held(script: Script = numbered) {
  const waiting: (() => void)[] = [];
  return {
    script: ((request, response: ServerResponse) => {
      waiting.push(() => void script(request, response));
    }) satisfies Script,
    release: (index: number) => waiting[index]?.(),
  };
}

describe('cached responses', () => {
  it('are returned synchronously, to every operation', async () => {
    await using setup = await setUp(numbered);
    await loadersOf(setup.partner).record(recordEndpoints.note, id(1));
    const usage = createUsage();
    const loaders = setup.partner.loadersFor(usage);
    expect(loaders.record(recordEndpoints.note, id(1))).toMatchObject({
      note: [1],
    });
    expect(usage).toMatchObject({ calls: 0, cached: 1 });
    expect([...loaders.entries].map(({ validity }) => validity.isCurrent)).toEqual([true]);
  });

  it.each<[string, unknown, number]>([
    ['a note', { isLoading: false, note: ['x'] }, 5000],
    ['a note that is loading', { isLoading: true, note: [] }, 1000],
  ])('of %s expire after their TTL', async (_, body, ttlMs) => {
    const clock = createFakeClock();
    await using setup = await setUp((_request, response) => answer(response, 200, body), { clock });
    await loadersOf(setup.partner).record(recordEndpoints.note, id(1));
    clock.advance(ttlMs - 1);
    await loadersOf(setup.partner).record(recordEndpoints.note, id(1));
    expect(setup.upstream.seen).toHaveLength(1);
    clock.advance(2);
    await loadersOf(setup.partner).record(recordEndpoints.note, id(1));
    expect(setup.upstream.seen).toHaveLength(2);
  });

  it('that a caller has kept expire too', async () => {
    const clock = createFakeClock();
    await using setup = await setUp(numbered, { clock });
    const read = (kept?: CacheEntry<NoteRecord | null>) =>
      loadersOf(setup.partner).entry(recordEndpoints.note, id(1), kept);
    const kept = await read();
    clock.advance(4_999);
    expect(read(kept)).toBe(kept);
    clock.advance(2);
    expect((await read(kept)).value).toMatchObject({ note: [2] });
  });

  it('of a finished transcript are kept for minutes, of one not ready for a second', async () => {
    const clock = createFakeClock();
    let body: unknown = envelope(404, 'no transcript');
    await using setup = await setUp((_, response) => answer(response, 200, body), { clock });
    expect(await loadersOf(setup.partner).record(recordEndpoints.transcript, id(1))).toBeNull();
    body = { transcriptItems: [] };
    clock.advance(1001);
    expect(await loadersOf(setup.partner).record(recordEndpoints.transcript, id(1))).toMatchObject({
      items: [],
    });
    clock.advance(120_000);
    expect(loadersOf(setup.partner).record(recordEndpoints.transcript, id(1))).toMatchObject({
      items: [],
    });
    expect(setup.upstream.seen).toHaveLength(2);
  });

  it('that the operation has read since a time are not read again once they have expired', async () => {
    const clock = createFakeClock();
    await using setup = await setUp((_, response) => answer(response, 200, pageBody(10, 1)), {
      clock,
    });
    const loaders = loadersOf(setup.partner);
    const read = (since: number) => loaders.page({ name: 'organizations' }, 1, since);
    const page = await read(clock.now() - 1);
    clock.advance(6_000);
    expect(read(clock.now() - 6_001)).toBe(page);
    expect(await read(clock.now() - 1)).not.toBe(page);
    expect(setup.upstream.seen).toHaveLength(2);
  });

  it('do not include failures', async () => {
    await using setup = await setUp(({ number }, response) =>
      number === 1 ? answer(response, 409, { error: {} }) : answer(response, 200, { note: [] }),
    );
    const loaders = loadersOf(setup.partner);
    expect(await codeOf(loaders.record(recordEndpoints.note, id(1)))).toBe('BAD_USER_INPUT');
    expect(await codeOf(loaders.record(recordEndpoints.note, id(1)))).toBe('BAD_USER_INPUT');
    expect(setup.upstream.seen).toHaveLength(1);
    expect(await loadersOf(setup.partner).record(recordEndpoints.note, id(1))).toMatchObject({
      note: [],
    });
  });

  it('stay the same within an operation, even after they expire', async () => {
    const clock = createFakeClock();
    await using setup = await setUp(numbered, { clock });
    const loaders = loadersOf(setup.partner);
    const first = await loaders.record(recordEndpoints.note, id(1));
    clock.advance(60_000);
    expect(loaders.record(recordEndpoints.note, id(1))).toBe(first);
  });

  it('are bounded by bytes', async () => {
    const text = 'x'.repeat(4_000_000);
    // On a busy machine these calls take longer than the five seconds after which a note expires.
    await using setup = await setUp(
      (_, response) => answer(response, 200, { isLoading: false, note: [text] }),
      { clock: createFakeClock() },
    );
    const first = loadersOf(setup.partner);
    await first.record(recordEndpoints.note, id(99));
    for (let n = 1; n <= 8; n++) await loadersOf(setup.partner).record(recordEndpoints.note, id(n));
    expect([...first.entries].map(({ validity }) => validity.isCurrent)).toEqual([false]);
    const { cacheBytes, cacheEntries } = setup.partner.state();
    expect(cacheBytes).toBeLessThanOrEqual(32 * 1024 * 1024);
    expect(cacheEntries).toBe(8);
  });

  it('are removed from memory after they expire', async () => {
    const clock = createFakeClock();
    await using setup = await setUp((_, response) => answer(response, 200, { isLoading: true }), {
      clock,
    });
    const loaders = loadersOf(setup.partner);
    await Promise.all([1, 2, 3].map(async (n) => loaders.record(recordEndpoints.note, id(n))));
    const { state } = setup.partner;
    expect(state().cacheEntries).toBe(3);
    // The timers are real ones.
    clock.advance(1_001);
    await expect.poll(() => state().cacheEntries).toBe(0);
  });

  it('of a list are dropped when its length has changed, so that no window mixes two states', async () => {
    let total = 25;
    await using setup = await setUp((request, response) =>
      answer(response, 200, pageBody(total, Number(/page=(\d+)/.exec(request.path)?.[1]))),
    );
    const list = { name: 'clientsOfClinic', id: id(1) } as const;
    const loaders = loadersOf(setup.partner);
    await loaders.page(list, 1);
    total = 24;
    expect(setup.partner.cache.totalOf(listKeyOf(list))).toBe(25);
    await loadersOf(setup.partner).page(list, 3);
    expect([...loaders.entries].map(({ validity }) => validity.isCurrent)).toEqual([false]);
    expect(await loadersOf(setup.partner).page(list, 1)).toMatchObject({ total: 24 });
    expect(setup.partner.cache.totalOf(listKeyOf(list))).toBe(24);
    expect(setup.upstream.seen).toHaveLength(3);
  });

  it('keep the length of a list after they have expired', async () => {
    const clock = createFakeClock();
    await using setup = await setUp((_, response) => answer(response, 200, pageBody(3, 1)), {
      clock,
    });
    const list = { name: 'organizations' } as const;
    await loadersOf(setup.partner).page(list, 1);
    clock.advance(3600_000);
    setup.partner.invalidate([cachePathOf(list)]);
    expect(setup.partner.cache.totalOf(listKeyOf(list))).toBe(3);
    expect(
      setup.partner.cache.totalOf(listKeyOf({ ...list, filter: { name: 'x' } })),
    ).toBeUndefined();
  });
});

describe('the loaders of concurrent operations', () => {
  it('are separate, whether or not started in the same tick', async () => {
    await using setup = await setUp(numbered);
    const [one, other] = [loadersOf(setup.partner), loadersOf(setup.partner)];
    const note = await one.record(recordEndpoints.note, id(1));
    setup.partner.invalidate([recordEndpoints.note.path(id(1))]);
    expect(await other.record(recordEndpoints.note, id(1))).not.toBe(note);
    expect(await one.record(recordEndpoints.note, id(1))).toBe(note);
  });
});

describe('identical reads in flight', () => {
  it('are aborted when all their operations are, and the next one makes a new call', async () => {
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    await using setup = await setUp((request, response) => {
      if (request.number > 1) return numbered(request, response);
      response.once('close', close);
    });
    const leaving = [createUsage(), createUsage()];
    const left = leaving.map((usage) =>
      setup.partner.loadersFor(usage).record(recordEndpoints.note, id(1)),
    );
    await setup.upstream.arrived(1);
    for (const usage of leaving) usage.end();
    expect(await Promise.all(left.map(codeOf))).toEqual(['TIMEOUT', 'TIMEOUT']);
    await closed;
    expect(setup.partner.state().inFlight).toBe(0);
    expect(await loadersOf(setup.partner).record(recordEndpoints.note, id(1))).toMatchObject({
      note: [2],
    });
  });

  it('are not started for an operation that is over', async () => {
    await using setup = await setUp(numbered);
    const usage = createUsage();
    usage.end();
    expect(await codeOf(setup.partner.loadersFor(usage).record(recordEndpoints.note, id(1)))).toBe(
      'TIMEOUT',
    );
    expect(setup.upstream.seen).toEqual([]);
  });

  it('do not wait for one another', async () => {
    await using setup = await setUp((request, response) => {
      if (!request.path.endsWith(id(1))) return numbered(request, response);
    });
    const loaders = loadersOf(setup.partner);
    const slow = Promise.resolve(loaders.record(recordEndpoints.note, id(1)));
    slow.catch(() => {});
    expect(await loaders.record(recordEndpoints.note, id(2))).toBeDefined();
  });
});

describe('invalidating', () => {
  it('removes all pages and filters of a list, and nothing else', async () => {
    await using setup = await setUp((request, response) =>
      answer(response, 200, pageBody(20, Number(/page=(\d+)/.exec(request.path)?.[1]))),
    );
    const clients = { name: 'clientsOfClinic', id: id(1) } as const;
    const read = async () => {
      const loaders = loadersOf(setup.partner);
      await loaders.page(clients, 1);
      await loaders.page(clients, 2);
      await loaders.page({ ...clients, filter: { status: 'active' } }, 1);
      await loaders.page({ name: 'cliniciansOfClinic', id: id(1) }, 1);
    };
    await read();
    setup.partner.invalidate([cachePathOf(clients)]);
    await read();
    expect(setup.upstream.seen).toHaveLength(7);
  });

  it('marks the responses that an operation used as stale', async () => {
    await using setup = await setUp(numbered);
    const loaders = loadersOf(setup.partner);
    await loaders.record(recordEndpoints.noteOfSession, id(1));
    setup.partner.invalidate([recordEndpoints.noteOfSession.path(id(1))]);
    expect([...loaders.entries].map(({ validity }) => validity.isCurrent)).toEqual([false]);
  });

  it('of a session’s note removes the note by its own id too, though that response names no session', async () => {
    await using setup = await setUp((_, response) =>
      answer(response, 200, { progressNoteId: id(2), isLoading: false, note: [] }),
    );
    const loaders = loadersOf(setup.partner);
    await loaders.record(recordEndpoints.note, id(2));
    await loaders.record(recordEndpoints.noteOfSession, id(1));
    setup.partner.invalidate([recordEndpoints.noteOfSession.path(id(1))]);
    expect([...loaders.entries].map(({ validity }) => validity.isCurrent)).toEqual([false, false]);
  });

  it('of a note keeps a response that is in flight by its session out of the cache', async () => {
    const clock = createFakeClock();
    const { release, script } = held((_, response) =>
      answer(response, 200, { progressNoteId: id(2), isLoading: false, note: [] }),
    );
    await using setup = await setUp(script, { clock });
    const read = loadersOf(setup.partner).record(recordEndpoints.noteOfSession, id(1));
    await setup.upstream.arrived(1);
    clock.advance(1);
    setup.partner.invalidate([recordEndpoints.note.path(id(2))]);
    release(0);
    expect(await read).toMatchObject({ id: id(2) });
    expect(setup.partner.state().cacheEntries).toBe(0);
  });

  it('detaches a read in flight: later reads make a new call, and the late response is not cached', async () => {
    const { release, script } = held();
    await using setup = await setUp(script);
    const early = loadersOf(setup.partner);
    const before = early.record(recordEndpoints.note, id(1));
    await setup.upstream.arrived(1);
    setup.partner.invalidate([recordEndpoints.note.path(id(1))]);
    const after = loadersOf(setup.partner).record(recordEndpoints.note, id(1));
    await setup.upstream.arrived(2);
    release(1);
    expect(await after).toMatchObject({ note: [2] });
    release(0);
    expect(await before).toMatchObject({ note: [1] });
    expect([...early.entries].map(({ validity }) => validity.isCurrent)).toEqual([false]);
    expect(loadersOf(setup.partner).record(recordEndpoints.note, id(1))).toMatchObject({
      note: [2],
    });
  });

  it('detaches pages of a list in flight, whatever their filter', async () => {
    const { release, script } = held(({ number }, response) =>
      answer(response, 200, pageBody(number, 1)),
    );
    await using setup = await setUp(script);
    const list = { name: 'clientsOfClinic', id: id(1), filter: { status: 'active' } } as const;
    const before = loadersOf(setup.partner).page(list, 1);
    await setup.upstream.arrived(1);
    setup.partner.invalidate([cachePathOf(list)]);
    release(0);
    expect(await before).toMatchObject({ total: 1 });
    expect(setup.partner.state().cacheEntries).toBe(0);
  });
});

describe('invalidating everything', () => {
  it('marks every response as stale, and detaches reads in flight', async () => {
    const late = held();
    await using setup = await setUp((request, response) =>
      (request.number === 1 ? numbered : late.script)(request, response),
    );
    const loaders = loadersOf(setup.partner);
    await loaders.record(recordEndpoints.note, id(1));
    const inFlight = loaders.record(recordEndpoints.note, id(2));
    await setup.upstream.arrived(2);
    setup.partner.invalidateAll();
    late.release(0);
    await inFlight;
    expect([...loaders.entries].map(({ validity }) => validity.isCurrent)).toEqual([false, false]);
    expect(setup.partner.state().cacheEntries).toBe(0);
  });
});

describe('a fresh read', () => {
  it('after a change bypasses the cache, once, and its response replaces the cached one', async () => {
    await using setup = await setUp(numbered);
    const loaders = loadersOf(setup.partner);
    await loaders.record(recordEndpoints.note, id(1));
    loaders.clear();
    const fresh = () => loaders.record(recordEndpoints.note, id(1), { fresh: true });
    const [one, other] = await Promise.all([fresh(), fresh()]);
    expect(one).toMatchObject({ note: [2] });
    expect([other, fresh()]).toEqual([one, one]);
    expect(loaders.record(recordEndpoints.note, id(1))).toMatchObject({ note: [2] });
    expect([...loaders.entries].map(({ validity }) => validity.isCurrent)).toEqual([false, true]);
    expect(loadersOf(setup.partner).record(recordEndpoints.note, id(1))).toMatchObject({
      note: [2],
    });
  });

  it('bypasses a read that started earlier, and is not overwritten by it', async () => {
    const { release, script } = held();
    await using setup = await setUp(script);
    const loaders = loadersOf(setup.partner);
    const older = loaders.record(recordEndpoints.note, id(1));
    await setup.upstream.arrived(1);
    loaders.clear();
    const fresh = loaders.record(recordEndpoints.note, id(1), { fresh: true });
    await setup.upstream.arrived(2);
    release(1);
    expect(await fresh).toMatchObject({ note: [2] });
    release(0);
    expect(await older).toMatchObject({ note: [1] });
    expect(loaders.record(recordEndpoints.note, id(1))).toMatchObject({ note: [2] });
  });

  it('replaces what the operation has read before, even if it is invalidated on its way', async () => {
    await using setup = await setUp(numbered);
    await loadersOf(setup.partner).record(recordEndpoints.note, id(1));
    const loaders = loadersOf(setup.partner);
    expect(loaders.record(recordEndpoints.note, id(1))).toMatchObject({ note: [1] });
    const fresh = loaders.record(recordEndpoints.note, id(1), { fresh: true });
    await setup.upstream.arrived(2);
    setup.partner.invalidate([recordEndpoints.note.path(id(1))]);
    expect(await fresh).toMatchObject({ note: [2] });
    expect(loaders.record(recordEndpoints.note, id(1))).toMatchObject({ note: [2] });
  });

  it('of a page is one that was requested since the given time', async () => {
    const clock = createFakeClock();
    const { release, script } = held((_, response) => answer(response, 200, pageBody(3, 1)));
    await using setup = await setUp(script, { clock });
    const list = { name: 'organizations' } as const;
    const [early, loaders] = [loadersOf(setup.partner), loadersOf(setup.partner)];
    const old = early.page(list, 1);
    await setup.upstream.arrived(1);
    clock.advance(1);
    const since = loaders.freshSince;
    const [one, other] = [loaders.page(list, 1, since), loaders.page(list, 1, since)];
    await setup.upstream.arrived(2);
    release(0);
    release(1);
    expect(await one).toBe(await other);
    expect(await one).not.toBe(await old);
    expect(loaders.page(list, 1, since)).toBe(await one);
    const newer = loaders.page(list, 1, clock.now());
    await setup.upstream.arrived(3);
    release(2);
    expect(await newer).not.toBe(await one);
  });
});
