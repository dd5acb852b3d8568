import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { recordEndpoints } from '../../src/rest/records.ts';
import { createPartner, createUsage } from '../../src/rest/partner.ts';
import type { Partner, Usage } from '../../src/rest/partner.ts';
import { secondaryCliniciansBody } from '../../src/rest/assumed-names.ts';
import { writes } from '../../src/rest/endpoints.ts';
import { createFakeClock } from '../support/rest/fake-clock.ts';
import { codeOf, id, setUp } from '../support/rest/partner.ts';
import { answer, envelope, openUpstream } from '../support/rest/upstream.ts';
import type { Script } from '../support/rest/upstream.ts';

type Write = (partner: Partner, usage?: Usage) => Promise<unknown>;
const magicEdit: Write = (partner, usage = createUsage()) =>
  partner.send(writes.magicEdit, id(1), { userInstructions: 'shorter' }, usage);
const updateNote: Write = (partner, usage = createUsage()) =>
  partner.send(writes.updateProgressNote, id(1), { note: ['x'] }, usage);
const assign: Write = (partner, usage = createUsage()) =>
  partner.send(
    writes.assignSecondaryClinicians,
    id(1),
    secondaryCliniciansBody([id(2), id(3)]),
    usage,
  );
const mint: Write = (partner, usage = createUsage()) =>
  partner.send(writes.authenticateClinician, id(1), undefined, usage);

const fails: Script = (_, response) => answer(response, 500, envelope(500, 'x'));
const hangs: Script = () => {};
const sends =
  (contentType: string, body: string): Script =>
  (_, response) =>
    void response.writeHead(200, contentType ? { 'content-type': contentType } : {}).end(body);
const resets: Script = (_, response) => void response.socket?.resetAndDestroy();

describe('a write', () => {
  it.each([
    ['an empty body', 'application/json', ''],
    ['plain text', 'text/plain', 'OK'],
    ['a word that is called a page', 'text/html; charset=utf-8', 'true'],
    ['an empty page', 'text/html', ''],
  ])('succeeds with %s', async (_, contentType, body) => {
    await using setup = await setUp((_request, response) => {
      response.writeHead(201, { 'content-type': contentType });
      response.end(body);
    });
    expect(await magicEdit(setup.partner)).toBeNull();
  });

  it.each<[string, Script, Write, number]>([
    ['a reset on an assignment', resets, assign, 3],
    ['a hang on a patch', hangs, updateNote, 2],
    ['JSON that is called a page on a magic edit', sends('text/html', '{}'), magicEdit, 1],
    ['a page of no type on a magic edit', sends('', '\ufeff\n<!DOCTYPE html>'), magicEdit, 1],
    ['an XML error on a magic edit', sends('application/xml', '<Error/>'), magicEdit, 1],
  ])('after %s is of unknown outcome', async (_, script, write, attempts) => {
    await using setup = await setUp(script, { timeoutMs: 250 });
    expect(await codeOf(write(setup.partner))).toBe('OUTCOME_UNKNOWN');
    expect(setup.upstream.seen).toHaveLength(attempts);
  });

  it.each([magicEdit, updateNote, assign])(
    'that hangs while the client is closed is of unknown outcome at once (%#)',
    async (write) => {
      const sent = Promise.withResolvers<void>();
      await using setup = await setUp(() => sent.resolve(), {
        clock: createFakeClock(),
        random: () => 0.5,
      });
      await setup.partner.check();
      const code = codeOf(write(setup.partner));
      await sent.promise;
      await setup.partner[Symbol.asyncDispose]();
      // The clock stands still: a retry would never come.
      expect(await code).toBe('OUTCOME_UNKNOWN');
    },
  );

  it('is rejected if a later attempt is, though the first ended unclearly', async () => {
    await using setup = await setUp(({ number }, response) =>
      answer(response, number === 1 ? 503 : 404, envelope(404, 'x')),
    );
    expect(await codeOf(assign(setup.partner))).toBe('NOT_FOUND');
  });

  it.each([
    [403, 'Progress note is locked'],
    [409, 'x'],
  ])(
    'is of unknown outcome if a later attempt gets %d, which may be the effect of the first',
    async (status, message) => {
      await using setup = await setUp(({ number }, response) =>
        number === 1
          ? resets({} as never, response)
          : answer(response, status, envelope(status, message)),
      );
      expect(await codeOf(updateNote(setup.partner))).toBe('OUTCOME_UNKNOWN');
      expect(setup.upstream.seen).toHaveLength(2);
    },
  );

  it('that fails every time does not stop reads of the same path', async () => {
    await using setup = await setUp(({ method }, response) =>
      method === 'PATCH'
        ? answer(response, 500, envelope(500, 'x'))
        : answer(response, 200, { isLoading: false, note: [] }),
    );
    for (let count = 0; count < 8; count += 1) await codeOf(updateNote(setup.partner));
    const loaders = setup.partner.loadersFor(createUsage());
    expect(await loaders.record(recordEndpoints.note, id(1))).toMatchObject({ isLoading: false });
  });

  it('that must not be retried has 15 s for its one attempt', async () => {
    const clock = createFakeClock();
    await using setup = await setUp(hangs, { clock });
    await setup.partner.check();
    const edit = codeOf(magicEdit(setup.partner));
    await setup.upstream.arrived(1);
    clock.advance(14_999);
    expect(setup.partner.state().inFlight).toBe(1);
    clock.advance(1);
    expect(await edit).toBe('OUTCOME_UNKNOWN');
    expect(setup.upstream.seen).toHaveLength(1);
  });

  it('whose connection is refused was not sent: it is unavailable, not unknown', async () => {
    const upstream = await openUpstream(hangs);
    await using partner = createPartner(upstream.connection, { random: () => 0 });
    await partner.check();
    await upstream[Symbol.asyncDispose]();
    expect(await codeOf(magicEdit(partner))).toBe('UPSTREAM_UNAVAILABLE');
  });

  it.each([
    ['it is queued', 1],
    ['its connection is being made', 2],
  ])('is not sent if its operation ends while %s', async (_, maxConcurrency) => {
    await using setup = await setUp(hangs, { maxConcurrency });
    const blocking = createUsage();
    const blocker = setup.partner.loadersFor(blocking).record(recordEndpoints.note, id(9));
    await setup.upstream.arrived(1);
    const ending = createUsage();
    const edit = magicEdit(setup.partner, ending);
    ending.end();
    expect(await codeOf(edit)).toBe('TIMEOUT');
    blocking.end();
    expect(await codeOf(blocker)).toBe('TIMEOUT');
    await expect.poll(() => setup.partner.state().inFlight).toBe(0);
    expect(setup.upstream.seen).toHaveLength(1);
  });

  it('is not repeated once its operation has ended, since a later write may have succeeded', async () => {
    const first = Promise.withResolvers<ServerResponse>();
    await using setup = await setUp(({ number }, response) =>
      number === 1 ? first.resolve(response) : answer(response, 200, {}),
    );
    const update = (text: string, usage = createUsage()) =>
      setup.partner.send(writes.updateProgressNote, id(1), { note: [text] }, usage);
    const ending = createUsage();
    const earlier = codeOf(update('A', ending));
    const response = await first.promise;
    ending.end();
    await update('B');
    answer(response, 503, envelope(503, 'x'));
    expect(await earlier).toBe('OUTCOME_UNKNOWN');
    expect(setup.upstream.seen.map(({ body }) => body)).toEqual([
      '{"note":["A"]}',
      '{"note":["B"]}',
    ]);
  });

  it('is not repeated if its operation ends in the pause before the next attempt', async () => {
    const clock = createFakeClock();
    const failed = Promise.withResolvers<void>();
    const observer = {
      attempt({ route }: { route: string }) {
        if (route === writes.updateProgressNote.template) failed.resolve();
      },
    };
    await using setup = await setUp(fails, { clock, observer, random: () => 0.5 });
    const ending = createUsage();
    const update = codeOf(updateNote(setup.partner, ending));
    await failed.promise;
    ending.end();
    expect(await update).toBe('OUTCOME_UNKNOWN');
    clock.advance(15_000);
    expect(setup.partner.state().inFlight).toBe(0);
  });

  it('over the budget of its operation is not sent', async () => {
    await using setup = await setUp(fails);
    expect(await codeOf(magicEdit(setup.partner, createUsage({ maxCalls: 0 })))).toBe(
      'QUERY_TOO_EXPENSIVE',
    );
    expect(setup.upstream.seen).toEqual([]);
  });
});

describe('an issued pair of tokens', () => {
  const pair = { AccessToken: 'a', RefreshToken: 'r', ExpiresIn: 600 };
  it.each([
    ['has other names', { accessToken: 'a', refreshToken: 'r', expiresIn: 600 }],
    ['has no AccessToken', { ...pair, AccessToken: '' }],
    ['has no RefreshToken', { ...pair, RefreshToken: undefined }],
    ['has no ExpiresIn', { ...pair, ExpiresIn: null }],
    ['has expired', { ...pair, ExpiresIn: 0 }],
    ['lives longer than an Int', { ...pair, ExpiresIn: 2 ** 31 }],
    ['lives for ever', { ...pair, ExpiresIn: 'for ever' }],
  ])('is a broken contract if it %s', async (_, body) => {
    await using setup = await setUp((__, response) => answer(response, 200, body));
    expect(await codeOf(mint(setup.partner))).toBe('UPSTREAM_BAD_RESPONSE');
  });
});
