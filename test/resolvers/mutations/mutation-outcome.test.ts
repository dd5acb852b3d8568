import { setTimeout as delay } from 'node:timers/promises';

import { afterEach, beforeAll, afterAll, describe, expect, it } from 'vitest';

import { type Clock, systemClock } from '../../../src/clock.ts';
import { type Gateway, openGateway } from '../../support/gateway.ts';
import {
  type Change,
  change,
  changes,
  codesOf,
  countOf,
  envelope,
  unclearAnswers,
} from '../../support/mutation/edits.ts';
import { until } from '../../support/ws/raw-socket.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway({ switches: { rewriteMs: 60_000 } });
});
afterAll(() => gateway.close());
afterEach(() => {
  gateway.sandbox.clearAnswers();
  gateway.sandbox.resetCounts();
});

const all: readonly Change[] = ['magicEdit', 'regenerate', 'update'];
const answerNext = (name: Change, answer: object) =>
  gateway.sandbox.answerNext(changes[name].route, answer);
const noteId = () => gateway.sandbox.ids.note(0, 0);

describe.each(all)('%s', (name) => {
  it.each([
    ['a list', { message: ['a is wrong', 'b is missing'], error: 'Bad Request', statusCode: 400 }],
    ['a sentence', 'the note is too short'],
  ])('that is rejected with %s is InvalidInput with its strings', async (_, message) => {
    answerNext(name, { status: 400, body: envelope(400, message) });
    const { result } = await change(gateway, name, noteId());
    expect(result).toMatchObject({
      type: 'InvalidInput',
      issues: typeof message === 'string' ? [message] : message.message,
    });
    expect(countOf(gateway, name)).toBe(1);
  });

  it('of a note that does not exist is NotFound', async () => {
    const { result } = await change(gateway, name, '8f14e45f-ceea-467f-a8d1-6b1e7c1f0a2b');
    expect(result.type).toBe('NotFound');
    expect(countOf(gateway, name)).toBe(1);
  });

  it('that conflicts is an error with a message about the conflict', async () => {
    answerNext(name, { status: 409, body: envelope(409, 'already under way') });
    const answer = await change(gateway, name, noteId());
    expect(answer.result).toBeNull();
    expect(answer.errors).toMatchObject([
      {
        message: expect.stringContaining('conflicts with the present state'),
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
    expect(JSON.stringify(answer.errors)).not.toContain('already under way');
    expect(countOf(gateway, name)).toBe(1);
  });

  it('with a token that has expired is sent once more with a new one', async () => {
    await change(gateway, name, noteId());
    gateway.sandbox.resetCounts();
    gateway.sandbox.expireTokens();
    const { result } = await change(gateway, name, noteId());
    expect(result.type).toBe('ProgressNoteChange');
    expect(countOf(gateway, name)).toBe(2);
    expect(gateway.sandbox.countOf('POST /partners/authenticate')).toBe(1);
  });

  it.each([
    ['as a string', envelope(403, 'Progress note is locked')],
    ['in a list', envelope(403, { message: ['Progress note is locked'], statusCode: 403 })],
  ])(
    'of a locked note, with the message %s, is ProgressNoteLocked and not retried',
    async (_, body) => {
      answerNext(name, { status: 403, body });
      const { result, errors } = await change(gateway, name, gateway.sandbox.ids.note(1, 0));
      expect(errors).toBeUndefined();
      expect(result).toEqual({
        type: 'ProgressNoteLocked',
        message: 'The progress note is locked.',
      });
      expect(countOf(gateway, name)).toBe(1);
    },
  );

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
    answerNext(name, { status: 403, ...answer });
    const note = gateway.sandbox.ids.note(2, 0);
    const refused = await change(gateway, name, note);
    expect(refused.result).toBeNull();
    expect(codesOf(refused)).toEqual([code]);
    expect(countOf(gateway, name)).toBe(1);
    const { data } = await gateway.query('query($id: ID!) { progressNote(id: $id) { isLocked } }', {
      id: note,
    });
    expect(data.progressNote.isLocked).toBeNull();
  });
});

describe.each(['magicEdit', 'regenerate'] as const)('%s of unknown outcome', (name) => {
  it.each(unclearAnswers)('after %s is sent once and has an unknown outcome', async (_, answer) => {
    // The breaker would treat seven failures in a row as an outage.
    await using own = await openGateway();
    own.sandbox.answerNext(changes[name].route, { ...answer, times: 5 });
    const { result, errors } = await change(own, name, own.sandbox.ids.note(0, 0));
    expect(result).toBeNull();
    expect(errors).toMatchObject([
      {
        message:
          'No clear answer came: the change may or may not have taken effect, so await its progress_note_regenerated event before sending it again.',
        extensions: { code: 'OUTCOME_UNKNOWN' },
      },
    ]);
    expect(countOf(own, name)).toBe(1);
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
    const { route } = changes.magicEdit;
    shortLimit.sandbox.answerNext(route, {
      heldUntil: delay(1_500),
      takesEffect: true,
      body: { slow: true },
    });
    const { result } = await change(shortLimit, 'magicEdit', shortLimit.sandbox.ids.note(0, 0));
    expect(result).toMatchObject({ type: 'ProgressNoteChange', raw: { slow: true } });
    expect(countOf(shortLimit, 'magicEdit')).toBe(1);
  });

  it('is aborted after 15 s with an unknown outcome, having been sent once', async () => {
    const timers: { readonly ms: number; readonly run: () => void }[] = [];
    const clock: Clock = {
      ...systemClock,
      after(ms, run) {
        timers.push({ ms, run });
        return systemClock.after(ms, run);
      },
    };
    await using own = await openGateway({ env: { LIMIT_OPERATION_MS: '1000' }, clock });
    own.sandbox.answerNext(changes.magicEdit.route, { hang: true });
    const answer = change(own, 'magicEdit', own.sandbox.ids.note(0, 0));
    await until(() => countOf(own, 'magicEdit') === 1);
    // The only timer of this length: reads have a shorter deadline, and the token a longer life.
    const deadlines = timers.filter(({ ms }) => Math.round(ms) === 15_000);
    expect(deadlines).toHaveLength(1);
    deadlines[0]!.run();
    expect(codesOf(await answer)).toEqual(['OUTCOME_UNKNOWN']);
    expect(countOf(own, 'magicEdit')).toBe(1);
  });
});
