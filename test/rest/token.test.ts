import { describe, expect, it, vi } from 'vitest';
import { recordEndpoints } from '../../src/rest/records.ts';
import { createUsage } from '../../src/rest/partner.ts';
import { writes } from '../../src/rest/endpoints.ts';
import { createFakeClock } from '../support/rest/fake-clock.ts';
import { codeOf, id, loadersOf, setUp } from '../support/rest/partner.ts';
import { answer, envelope } from '../support/rest/upstream.ts';
import type { SeenRequest } from '../support/rest/upstream.ts';
import type { ServerResponse } from 'node:http';

const note = (response: ServerResponse) => answer(response, 200, { isLoading: false, note: [] });
const expired = (response: ServerResponse) => answer(response, 401, envelope(401, 'expired'));
/** Accepts the tokens from `first` on. */
const tokensFrom = (first: number) => (request: SeenRequest, response: ServerResponse) =>
  Number(request.token?.slice('token-'.length)) >= first ? note(response) : expired(response);

/** One token, and then none. */
const onlyOnce = (response: ServerResponse, number: number) =>
  number === 1
    ? answer(response, 200, { accessToken: 'token-1', expiresIn: 3600 })
    : answer(response, 400, envelope(400, 'no'));

/** Notes, each in its own operation, all at once. */
const readAll = (setup: Awaited<ReturnType<typeof setUp>>, count: number) =>
  Promise.all(
    Array.from({ length: count }, async (_, n) =>
      loadersOf(setup.partner).record(recordEndpoints.note, id(n + 1)),
    ),
  );

describe('the partner token', () => {
  it('is obtained once for 50 operations at once', async () => {
    await using setup = await setUp(tokensFrom(1));
    await readAll(setup, 50);
    expect(setup.upstream.authenticated).toBe(1);
    expect(setup.upstream.seen).toHaveLength(50);
  });

  it('that expires under load is renewed once, and no operation fails', async () => {
    let first = 1;
    // Most calls are queued when the token is dropped.
    await using setup = await setUp((request, response) => tokensFrom(first)(request, response), {
      maxConcurrency: 5,
    });
    await readAll(setup, 1);
    first = 2;
    const notes = await readAll(setup, 51);
    expect(notes.filter((one) => one === undefined)).toEqual([]);
    expect(setup.upstream.authenticated).toBe(2);
    expect(setup.upstream.seen.filter(({ token }) => token === 'token-2')).toHaveLength(50);
    const tokens = new Set(setup.upstream.seen.map(({ token }) => token));
    expect(tokens).toEqual(new Set(['token-1', 'token-2']));
  });

  it('is renewed in the background before it expires, whatever the wall clock does', async () => {
    const clock = createFakeClock();
    await using setup = await setUp(tokensFrom(1), { clock });
    await readAll(setup, 1);
    clock.jump(30 * 24 * 3600_000);
    clock.advance(54 * 60_000);
    expect(setup.upstream.authenticated).toBe(1);

    clock.advance(60_000);
    await expect.poll(() => setup.partner.state().tokenAgeSeconds).toBe(0);
    expect(setup.upstream.authenticated).toBe(2);
  });

  it('is still used while its renewal fails, which is tried again after 30 s', async () => {
    const clock = createFakeClock();
    const failed: (() => void)[] = [];
    const observer = { tokenRenewalFailed: () => failed.shift()?.() };
    await using setup = await setUp(tokensFrom(1), { clock, observer }, { authenticate: onlyOnce });
    await readAll(setup, 1);
    const failure = new Promise<void>((resolve) => failed.push(resolve));
    clock.advance(56 * 60_000);
    await failure;
    await readAll(setup, 2);
    expect(setup.upstream.seen.map(({ token }) => token)).toEqual(Array(3).fill('token-1'));
    const before = setup.upstream.authenticated;
    clock.advance(30_000);
    await expect.poll(() => setup.upstream.authenticated).toBe(before + 1);
  });

  it('is not used in the last five seconds of its lifetime', async () => {
    const clock = createFakeClock();
    await using setup = await setUp(tokensFrom(1), { clock }, { authenticate: onlyOnce });
    await readAll(setup, 1);
    clock.advance(3_594_999);
    await loadersOf(setup.partner).record(recordEndpoints.note, id(2));
    clock.advance(1);
    const refused = loadersOf(setup.partner).record(recordEndpoints.note, id(3));
    expect(await codeOf(refused)).toBe('UPSTREAM_CREDENTIALS');
    expect(setup.upstream.seen).toHaveLength(2);
  });

  it('that is being renewed when the client is closed is not renewed later', async () => {
    const clock = createFakeClock();
    const after = vi.fn(clock.after);
    const [asked, failed] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
    await using setup = await setUp(
      tokensFrom(1),
      { clock: { ...clock, after }, observer: { tokenRenewalFailed: failed.resolve } },
      {
        authenticate: (response, number) =>
          number === 1 ? onlyOnce(response, number) : asked.resolve(),
      },
    );
    await setup.partner.check();
    // Five minutes before it expires.
    clock.advance(3_295_000);
    await asked.promise;
    after.mockClear();
    await setup.partner[Symbol.asyncDispose]();
    expect(await failed.promise).toBe('UPSTREAM_UNAVAILABLE');
    expect(after).not.toHaveBeenCalled();
  });

  it('that is always rejected is renewed once, and then at most once in 30 s', async () => {
    const clock = createFakeClock();
    await using setup = await setUp((_, response) => expired(response), { clock });
    const ask = () => codeOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)));
    expect(await ask()).toBe('UPSTREAM_CREDENTIALS');
    expect(setup.upstream.authenticated).toBe(2);
    expect(await ask()).toBe('UPSTREAM_CREDENTIALS');
    expect(await codeOf(setup.partner.check())).toBe('UPSTREAM_CREDENTIALS');
    clock.advance(5000);
    expect(await codeOf(setup.partner.check())).toBe('UPSTREAM_CREDENTIALS');
    expect(setup.upstream.authenticated).toBe(2);

    clock.advance(30_000);
    expect(await ask()).toBe('UPSTREAM_CREDENTIALS');
    expect(setup.upstream.authenticated).toBe(3);
  });

  it('that is always rejected is renewed once in 30 s, though the retry with the new one is slow', async () => {
    const clock = createFakeClock();
    const retry = Promise.withResolvers<ServerResponse>();
    await using setup = await setUp(
      ({ number }, response) => (number === 2 ? retry.resolve(response) : expired(response)),
      { clock },
    );
    const ask = (n: number) => codeOf(loadersOf(setup.partner).record(recordEndpoints.note, id(n)));
    const first = ask(1);
    await setup.upstream.arrived(2);
    expect([await ask(2), await ask(3)]).toEqual(Array(2).fill('UPSTREAM_CREDENTIALS'));
    expired(await retry.promise);
    expect(await first).toBe('UPSTREAM_CREDENTIALS');
    clock.advance(29_000);
    await ask(4);
    expect(setup.upstream.authenticated).toBe(2);
    clock.advance(1000);
    await ask(5);
    expect(setup.upstream.authenticated).toBe(3);
  });

  it('that one route rejects for ever is still used for the others, and requested once in 30 s', async () => {
    const clock = createFakeClock();
    await using setup = await setUp(
      ({ path }, response) => (path.endsWith('/mdm') ? expired(response) : note(response)),
      { clock },
    );
    const rejected = () => codeOf(loadersOf(setup.partner).record(recordEndpoints.mdm, id(1)));
    for (let n = 1; n <= 5; n++) {
      expect(await rejected()).toBe('UPSTREAM_CREDENTIALS');
      expect(await loadersOf(setup.partner).record(recordEndpoints.note, id(n))).toBeDefined();
      expect(await rejected()).toBe('UPSTREAM_CREDENTIALS');
      await setup.partner.check();
    }
    expect(setup.upstream.authenticated).toBe(2);
    // Ten rejected calls, of which the first was repeated with a new token.
    expect(setup.upstream.seen.filter(({ path }) => path.endsWith('/mdm'))).toHaveLength(11);
    clock.advance(30_000);
    await rejected();
    await rejected();
    expect(setup.upstream.authenticated).toBe(3);
  });

  it('that one route rejects is not dropped again, though others accept it before the retry is rejected', async () => {
    const retry = Promise.withResolvers<ServerResponse>();
    await using setup = await setUp(({ path, number }, response) => {
      if (number === 2) return retry.resolve(response);
      return path.endsWith('/mdm') ? expired(response) : note(response);
    });
    const rejected = () => codeOf(loadersOf(setup.partner).record(recordEndpoints.mdm, id(1)));
    const first = rejected();
    await setup.upstream.arrived(2);
    await readAll(setup, 1);
    expired(await retry.promise);
    expect([await first, await rejected()]).toEqual(Array(2).fill('UPSTREAM_CREDENTIALS'));
    expect(setup.upstream.authenticated).toBe(2);
  });

  it('that a proxy rejects for many calls at once is renewed, and the new one as soon as it expires', async () => {
    let [first, reject] = [
      2,
      (response: ServerResponse) => answer(response, 401, { message: 'no' }),
    ];
    await using setup = await setUp((request, response) =>
      Number(request.token?.slice('token-'.length)) >= first ? note(response) : reject(response),
    );
    await readAll(setup, 20);
    expect(setup.upstream.authenticated).toBe(2);
    [first, reject] = [3, expired];
    await loadersOf(setup.partner).record(recordEndpoints.note, id(99));
    expect(setup.upstream.authenticated).toBe(3);
  });

  it('that a proxy rejects with every write is requested once, though no write is repeated', async () => {
    await using setup = await setUp((_, response) => answer(response, 401, { message: 'no' }), {
      clock: createFakeClock(),
    });
    const regenerate = (n: number) =>
      setup.partner.send(writes.regenerateProgressNote, id(n), undefined, createUsage());
    for (let n = 1; n <= 5; n++) expect(await codeOf(regenerate(n))).toBe('OUTCOME_UNKNOWN');
    expect(setup.upstream.authenticated).toBe(2);
    await expect(setup.partner.check()).rejects.toThrow('refused');
  });

  it('that a proxy rejects with every write is requested once, though reads are accepted with it', async () => {
    await using setup = await setUp(
      ({ method }, response) =>
        method === 'GET' ? note(response) : answer(response, 401, { message: 'no' }),
      { clock: createFakeClock() },
    );
    for (let n = 1; n <= 5; n++) {
      const write = setup.partner.send(
        writes.regenerateProgressNote,
        id(n),
        undefined,
        createUsage(),
      );
      expect(await codeOf(write)).toBe('OUTCOME_UNKNOWN');
      await loadersOf(setup.partner).record(recordEndpoints.note, id(n));
    }
    expect(setup.upstream.authenticated).toBe(2);
    await setup.partner.check();
  });

  it('is dropped by a 403 of the application, not retried, at most once a minute', async () => {
    const clock = createFakeClock();
    await using setup = await setUp(
      (_, response) => answer(response, 403, envelope(403, 'Access token not recognized')),
      { clock },
    );
    const ask = () => codeOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)));
    expect([await ask(), await ask(), await ask()]).toEqual(Array(3).fill('UPSTREAM_CREDENTIALS'));
    expect(setup.upstream.seen).toHaveLength(3);
    expect(setup.upstream.authenticated).toBe(2);
    clock.advance(60_000);
    await ask();
    await ask();
    expect(setup.upstream.authenticated).toBe(3);
  });

  it('is kept when a late 401 is about an older one', async () => {
    const held: ServerResponse[] = [];
    await using setup = await setUp((request, response) => {
      if (request.path.endsWith(id(1)) && request.token === 'token-1') held.push(response);
      else tokensFrom(2)(request, response);
    });
    const late = loadersOf(setup.partner).record(recordEndpoints.note, id(1));
    await setup.upstream.arrived(1);
    await loadersOf(setup.partner).record(recordEndpoints.note, id(2));
    for (const response of held) expired(response);
    expect(await late).toMatchObject({ isLoading: false });
    expect(setup.upstream.authenticated).toBe(2);
  });

  it('is renewed again at once if routes have accepted it, though a late answer is about an older one', async () => {
    const late = Promise.withResolvers<ServerResponse>();
    let first = 1;
    await using setup = await setUp((request, response) =>
      request.number === 1 ? late.resolve(response) : tokensFrom(first)(request, response),
    );
    const ask = async (n: number) => loadersOf(setup.partner).record(recordEndpoints.note, id(n));
    const slow = ask(1);
    await setup.upstream.arrived(1);
    first = 2;
    await ask(2);
    note(await late.promise);
    await slow;
    first = 3;
    await ask(3);
    expect(setup.upstream.authenticated).toBe(3);
  });

  it('that was replaced is not reported as the reason if the operation ends during the retry', async () => {
    await using setup = await setUp(({ number }, response) => {
      if (number === 1) expired(response);
    });
    const usage = createUsage();
    const read = codeOf(setup.partner.loadersFor(usage).record(recordEndpoints.note, id(1)));
    await setup.upstream.arrived(2);
    usage.end();
    expect(await read).toBe('TIMEOUT');
  });

  it('with no usable lifetime is used for more than one call', async () => {
    const clock = createFakeClock();
    await using setup = await setUp(tokensFrom(1), { clock }, { expiresIn: 0.01 });
    await readAll(setup, 1);
    clock.advance(1000);
    await readAll(setup, 3);
    expect(setup.upstream.authenticated).toBe(1);
  });

  it.each([
    ['no token', { expiresIn: 3600 }],
    ['a token that no header can hold', { accessToken: 'a\r\nb: c', expiresIn: 3600 }],
  ])('%s is a broken contract', async (_, body) => {
    await using setup = await setUp(
      tokensFrom(1),
      {},
      { authenticate: (response) => answer(response, 200, body) },
    );
    expect(await codeOf(setup.partner.check())).toBe('UPSTREAM_BAD_RESPONSE');
  });

  it.each([
    [403, { message: 'Forbidden' }, 'UPSTREAM_CREDENTIALS', 1],
    [401, envelope(401, 'no'), 'UPSTREAM_CREDENTIALS', 1],
    [400, envelope(400, 'no'), 'UPSTREAM_CREDENTIALS', 1],
    [403, { message: 'Missing Authentication Token' }, 'UPSTREAM_ROUTE', 2],
    [503, {}, 'UPSTREAM_UNAVAILABLE', 6],
  ])('that cannot be obtained, for %i %j, is %s', async (status, body, code, asked) => {
    await using setup = await setUp(
      tokensFrom(1),
      {},
      { authenticate: (response) => answer(response, status, body) },
    );
    expect(await codeOf(setup.partner.check())).toBe(code);
    expect(await codeOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)))).toBe(code);
    expect(setup.upstream.authenticated).toBe(asked);
    expect(setup.upstream.seen).toEqual([]);
  });

  it('that is denied with a 401 is reported as refused credentials, since no token was sent', async () => {
    const failed = vi.fn();
    await using setup = await setUp(
      tokensFrom(1),
      { observer: { failed } },
      { authenticate: (response) => answer(response, 401, envelope(401, 'no')) },
    );
    await codeOf(setup.partner.check());
    const reason = '/partners/authenticate: the client id or secret was refused';
    expect(failed).toHaveBeenCalledWith(expect.objectContaining({ reason }));
  });

  it('that is valid does not hide a rejected API key from the readiness check, which tries it every five seconds', async () => {
    const clock = createFakeClock();
    let isRefused = true;
    await using setup = await setUp(
      (_, response) =>
        isRefused ? answer(response, 403, { message: 'Forbidden' }) : answer(response, 200, {}),
      { clock },
    );
    await setup.partner.check();
    await codeOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)));
    expect(await codeOf(setup.partner.check())).toBe('UPSTREAM_CREDENTIALS');
    expect(setup.upstream.seen).toHaveLength(1);
    isRefused = false;
    clock.advance(5000);
    await setup.partner.check();
    expect(setup.upstream.seen).toHaveLength(2);
    expect(setup.upstream.authenticated).toBe(1);
  });

  it('that is not recognized by any route is reported by the readiness check, until one does', async () => {
    const clock = createFakeClock();
    let known = '/partners';
    await using setup = await setUp(
      ({ path }, response) =>
        path.endsWith(known)
          ? answer(response, 200, { isLoading: false, note: [] })
          : answer(response, 403, envelope(403, 'Access token not recognized')),
      { clock },
    );
    const ask = (n: number) => codeOf(loadersOf(setup.partner).record(recordEndpoints.note, id(n)));
    await loadersOf(setup.partner).record(recordEndpoints.partner);
    // The first one drops the token. The new one is not accepted by this route either, and no other was tried.
    expect([await ask(1), await ask(1)]).toEqual(Array(2).fill('UPSTREAM_CREDENTIALS'));
    expect(await codeOf(setup.partner.check())).toBe('UPSTREAM_CREDENTIALS');
    clock.advance(5_000);
    await setup.partner.check();
    // One route does not accept it, but another one does.
    await ask(1);
    await setup.partner.check();
    known = 'nothing';
    clock.advance(60_000);
    expect([await ask(1), await ask(2)]).toEqual(Array(2).fill('UPSTREAM_CREDENTIALS'));
    clock.advance(5_000);
    expect(await codeOf(setup.partner.check())).toBe('UPSTREAM_CREDENTIALS');
  });

  it('does not count towards the cost of an operation', async () => {
    await using setup = await setUp(tokensFrom(2));
    const usage = createUsage({ maxCalls: 2 });
    await setup.partner.loadersFor(usage).record(recordEndpoints.note, id(1));
    expect(usage).toMatchObject({ calls: 2, retried: 1 });
  });
});
