import { afterEach, beforeAll, afterAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway } from '../../support/gateway.ts';
import {
  type Change,
  allChanges,
  change,
  changes,
  codesOf,
  countOf,
  envelope,
  magicEdit,
  posts,
} from '../../support/mutation/edits.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway({ switches: { rewriteMs: 60_000 } });
});
afterAll(() => gateway.close());
afterEach(() => {
  gateway.sandbox.clearAnswers();
  gateway.sandbox.resetCounts();
});

const answerNext = (name: Change, answer: object) =>
  gateway.sandbox.answerNext(changes[name].route, answer);
const noteId = () => gateway.sandbox.ids.note(0, 0);
const UNKNOWN_NOTE = '8f14e45f-ceea-467f-a8d1-6b1e7c1f0a2b';

/** After each of these it is unknown whether the request took effect. */
const unclearAnswers = [
  ['500', { status: 500, body: envelope(500, 'broken') }],
  ['a redirect', { status: 302, headers: { location: '/elsewhere' }, rawBody: '' }],
  ['408 of a proxy', { status: 408, rawBody: '' }],
  ['499 of a proxy', { status: 499, rawBody: '' }],
  ['a reset', { reset: 'afterReceiving' }],
  ['half an answer', { reset: 'midAnswer', body: { progressNoteId: 'half' } }],
  [
    'half an answer that came whole',
    { rawBody: '{"progressNoteId":"ha', headers: { 'content-type': 'application/json' } },
  ],
  ['200 with an error', { body: envelope(500, 'broken') }],
  ['a page of a proxy', { rawBody: '<html>', headers: { 'content-type': 'text/html' } }],
] as const;

describe.each(allChanges)('%s', (name) => {
  it('that is rejected is InvalidInput with the reasons', async () => {
    const issues = ['a is wrong', 'b is missing'];
    answerNext(name, { status: 400, body: envelope(400, { message: issues, statusCode: 400 }) });
    const { result } = await change(gateway, name, noteId());
    expect(result).toMatchObject({ type: 'InvalidInput', issues });
    expect(countOf(gateway, name)).toBe(1);
  });

  it('of a note that does not exist is NotFound', async () => {
    const { result } = await change(gateway, name, UNKNOWN_NOTE);
    expect(result.type).toBe('NotFound');
    expect(countOf(gateway, name)).toBe(1);
  });
});

describe('an edit', () => {
  it('that conflicts is an error with a message about the conflict', async () => {
    answerNext('magicEdit', { status: 409, body: envelope(409, 'already under way') });
    const answer = await magicEdit(gateway, noteId());
    expect(answer.result).toBeNull();
    expect(answer.errors).toMatchObject([
      {
        message: expect.stringContaining('conflicts with the present state'),
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
    expect(JSON.stringify(answer.errors)).not.toContain('already under way');
    expect(countOf(gateway, 'magicEdit')).toBe(1);
  });

  it('with a token that has expired is sent once more with a new one', async () => {
    await magicEdit(gateway, noteId());
    gateway.sandbox.resetCounts();
    gateway.sandbox.expireTokens();
    const { result } = await magicEdit(gateway, noteId());
    expect(result.type).toBe('ProgressNoteChange');
    expect(countOf(gateway, 'magicEdit')).toBe(2);
    expect(gateway.sandbox.countOf('POST /partners/authenticate')).toBe(1);
  });

  it.each([
    ['a bare Forbidden', { body: { message: 'Forbidden' } }, 'UPSTREAM_CREDENTIALS'],
    ['a missing route', { body: { message: 'Missing Authentication Token' } }, 'UPSTREAM_ROUTE'],
    ['a bare lock', { body: { message: 'Progress note is locked' } }, 'UPSTREAM_CREDENTIALS'],
    [
      'an unknown token',
      { body: envelope(403, 'Access token is invalid') },
      'UPSTREAM_CREDENTIALS',
    ],
    [
      'a page',
      { rawBody: '<p>Progress note is locked', headers: { 'content-type': 'text/html' } },
      'UPSTREAM_BAD_RESPONSE',
    ],
  ])('rejected by %s is not a lock, and not retried', async (_, answer, code) => {
    answerNext('magicEdit', { status: 403, ...answer });
    const note = gateway.sandbox.ids.note(2, 0);
    const refused = await magicEdit(gateway, note);
    expect(refused.result).toBeNull();
    expect(codesOf(refused)).toEqual([code]);
    expect(countOf(gateway, 'magicEdit')).toBe(1);
    const { data } = await gateway.query('query($id: ID!) { progressNote(id: $id) { isLocked } }', {
      id: note,
    });
    expect(data.progressNote.isLocked).toBeNull();
  });
});

describe('a POST', () => {
  it.each([
    ...posts.map((name) => [name, ...unclearAnswers[0]] as const),
    ...unclearAnswers.slice(1).map((each) => ['magicEdit', ...each] as const),
  ])('by %s, after %s, is sent once and has an unknown outcome', async (name, _, answer) => {
    // The breaker would treat ten failures in a row as an outage.
    expect((await change(gateway, name, UNKNOWN_NOTE)).result.type).toBe('NotFound');
    gateway.sandbox.resetCounts();
    answerNext(name, { ...answer, times: 5 });
    const { result, errors } = await change(gateway, name, noteId());
    expect(result).toBeNull();
    expect(errors).toMatchObject([
      {
        message:
          'No clear answer came: the change may or may not have taken effect, so await its progress_note_regenerated event before sending it again.',
        extensions: { code: 'OUTCOME_UNKNOWN' },
      },
    ]);
    expect(countOf(gateway, name)).toBe(1);
  });
});

describe('an update of unknown outcome', () => {
  it('is sent twice, and then has an unknown outcome', async () => {
    answerNext('update', { status: 500, times: 5 });
    const { errors } = await change(gateway, 'update', noteId());
    expect(errors).toMatchObject([
      {
        message: expect.stringContaining('so read the note to see.'),
        extensions: { code: 'OUTCOME_UNKNOWN' },
      },
    ]);
    expect(countOf(gateway, 'update')).toBe(2);
  });
});

describe('an edit that takes long', () => {
  it('is not aborted by the operation limit', async () => {
    await using shortLimit = await openGateway({ env: { LIMIT_OPERATION_MS: '1000' } });
    const { sandbox } = shortLimit;
    const answer = Promise.withResolvers<void>();
    const held = { heldUntil: answer.promise, takesEffect: true, body: { slow: true } };
    sandbox.answerNext(changes.magicEdit.route, held);
    const edit = magicEdit(shortLimit, sandbox.ids.note(0, 0));
    await expect.poll(() => countOf(shortLimit, 'magicEdit')).toBe(1);
    // A read that began later ends by the same limit.
    sandbox.answerNext('GET /sessions/:id/mdm', { hang: true });
    const read = `{ session(id: "${sandbox.ids.session(0, 0)}") { mdm { id } } }`;
    expect(codesOf(await shortLimit.query(read))).toEqual(['TIMEOUT']);
    answer.resolve();
    expect((await edit).result).toMatchObject({ type: 'ProgressNoteChange', raw: { slow: true } });
    expect(countOf(shortLimit, 'magicEdit')).toBe(1);
  });
});
