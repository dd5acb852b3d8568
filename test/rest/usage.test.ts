import { describe, expect, it } from 'vitest';
import { recordEndpoints } from '../../src/rest/records.ts';
import { createUsage } from '../../src/rest/partner.ts';
import { codeOf, id, loadersOf, setUp } from '../support/rest/partner.ts';
import { answer } from '../support/rest/upstream.ts';
import type { Script } from '../support/rest/upstream.ts';

const numbered: Script = ({ number }, response) =>
  answer(response, 200, { isLoading: false, note: [number] });

describe('the budget of an operation', () => {
  it('includes retries', async () => {
    await using setup = await setUp((_, response) => answer(response, 500, {}));
    const loaders = loadersOf(setup.partner, { maxCalls: 2 });
    expect(await codeOf(loaders.record(recordEndpoints.note, id(1)))).toBe('QUERY_TOO_EXPENSIVE');
    expect(setup.upstream.seen).toHaveLength(2);
  });

  it('of an operation that shares the call pays for a retry that the first one cannot afford', async () => {
    await using setup = await setUp((request, response) =>
      request.number === 1 ? answer(response, 500, {}) : numbered(request, response),
    );
    const [exhausted, other] = [createUsage({ maxCalls: 1 }), createUsage({ maxCalls: 9 })];
    const loaded = [exhausted, other].map(async (usage) =>
      setup.partner.loadersFor(usage).record(recordEndpoints.note, id(1)),
    );
    expect(await Promise.all(loaded)).toHaveLength(2);
    expect(other).toMatchObject({ calls: 1, retried: 1 });
  });

  it('includes calls that wait for a slot: those past it fail at once', async () => {
    await using setup = await setUp(() => undefined, { maxConcurrency: 1 });
    const usage = createUsage({ maxCalls: 3 });
    const loaders = setup.partner.loadersFor(usage);
    const loading = [1, 2, 3, 4, 5].map((n) => codeOf(loaders.record(recordEndpoints.note, id(n))));
    expect(await Promise.race(loading)).toBe('QUERY_TOO_EXPENSIVE');
    await expect.poll(() => setup.partner.state()).toMatchObject({ inFlight: 1, queued: 2 });
    usage.end();
    const [sent, , , fourth, fifth] = await Promise.all(loading);
    expect([sent, fourth, fifth]).toEqual([
      'TIMEOUT',
      'QUERY_TOO_EXPENSIVE',
      'QUERY_TOO_EXPENSIVE',
    ]);
    expect(usage).toMatchObject({ calls: 1, unsent: 0 });
  });

  it('of an operation that shares the call is enough, if the first one uses up its own before the call is sent', async () => {
    const token = (n: number) => ({ accessToken: `token-${n}`, expiresIn: 3600 });
    const renewal = Promise.withResolvers<() => void>();
    await using setup = await setUp(
      (request, response) => {
        if (request.number > 1) return numbered(request, response);
        answer(response, 401, { error: { message: 'Unauthorized', statusCode: 401 } });
      },
      {},
      {
        authenticate(response, number) {
          const issue = () => answer(response, 200, token(number));
          if (number === 1) issue();
          else renewal.resolve(issue);
        },
      },
    );
    const [first, other] = [createUsage({ maxCalls: 2 }), createUsage({ maxCalls: 9 })];
    const load = async (usage: typeof first, n: number) =>
      setup.partner.loadersFor(usage).record(recordEndpoints.note, id(n));
    const one = load(first, 1);
    // The first call is repeated with a new token. The others wait for the token too.
    const issue = await renewal.promise;
    const others = [load(first, 2), load(other, 2)];
    issue();
    const loaded = await Promise.all([one, ...others]);
    expect(loaded).toHaveLength(3);
    expect(other).toMatchObject({ calls: 1, coalesced: 1 });
  });

  it('does not include cached or shared calls', async () => {
    await using setup = await setUp(numbered);
    await loadersOf(setup.partner).record(recordEndpoints.note, id(1));
    expect(
      loadersOf(setup.partner, { maxCalls: 0 }).record(recordEndpoints.note, id(1)),
    ).toMatchObject({
      note: [1],
    });
  });
});
