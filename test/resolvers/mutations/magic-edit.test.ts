import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { listen } from '../../support/access/listener.ts';
import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';
import { artifactId, plainId, sessionId } from '../../support/global-id.ts';
import {
  allChanges,
  change,
  changes,
  codesOf,
  countOf,
  magicEdit,
} from '../../support/mutation/edits.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway({ switches: { newNoteIdEvery: 0 } });
  await gateway.query('{ partner { __typename } }');
});
afterAll(() => gateway.close());
beforeEach(() => gateway.sandbox.resetCounts());

describe('a magic edit', () => {
  it('is trimmed, sent once, and returns the note, a cursor and the raw response', async () => {
    const noteId = gateway.sandbox.ids.note(0, 0);
    const { result, errors } = await magicEdit(gateway, noteId, {
      userInstructions: ' \n Shorten the plan.\t ',
    });
    expect(errors).toBeUndefined();
    expect(result).toMatchObject({
      type: 'ProgressNoteChange',
      raw: { progressNoteId: noteId },
      progressNote: { progressNoteId: noteId },
    });
    expect(result.cursor).toEqual(expect.any(String));
    const [sent, ...more] = gateway.sandbox.requests.filter(({ method }) => method === 'POST');
    expect(sent?.body).toEqual({ userInstructions: 'Shorten the plan.' });
    expect(more).toEqual([]);
  });

  it('is answered over server-sent events too, in one event, and sent once', async () => {
    const progressNoteId = gateway.sandbox.ids.note(1, 0);
    const input = { progressNoteId, userInstructions: 'Shorten the plan.' };
    const stream = await listen(gateway, ['partner'], changes.magicEdit.document, { input });
    const { data, errors } = await stream.next();
    expect(errors).toBeUndefined();
    expect(data.result).toMatchObject({ type: 'ProgressNoteChange', raw: { progressNoteId } });
    expect(await stream.next()).toBeNull();
    expect(countOf(gateway, 'magicEdit')).toBe(1);
  });

  it.each(['sessionId', 'clientId', 'patientId'])(
    'shows no response that names another %s, and stores none',
    async (name) => {
      const { ids } = gateway.sandbox;
      gateway.sandbox.answerNext(changes.magicEdit.route, {
        takesEffect: true,
        body: { [name]: randomUUID(), note: ['Of another patient.'] },
      });
      const input = {
        sessionId: ids.session(0, 0),
        clientId: ids.client(0),
        idempotencyKey: randomUUID(),
      };
      for (let time = 1; time <= 2; time += 1) {
        const { result } = await magicEdit(gateway, ids.note(0, 0), input);
        expect(result).toMatchObject({ type: 'ProgressNoteChange', raw: null });
      }
      expect(countOf(gateway, 'magicEdit')).toBe(1);
    },
  );

  it.each([
    ['5,000 characters', 'a'.repeat(5_000)],
    ['5,000 characters and white space around them', `  ${'a'.repeat(5_000)} \n `],
    ['5,000 emoji', '🩺'.repeat(5_000)],
    ['one character', 'x'],
  ])('may have %s', async (_, userInstructions) => {
    const { result } = await magicEdit(gateway, gateway.sandbox.ids.note(1, 0), {
      userInstructions,
    });
    expect(result.type).toBe('ProgressNoteChange');
    expect(gateway.sandbox.requests[0]?.body).toEqual({
      userInstructions: userInstructions.trim(),
    });
  });

  it.each([
    ['5,001 characters', 'a'.repeat(5_001), 'must have at most 5000 characters, but got 5001.'],
    ['5,001 emoji', '🩺'.repeat(5_001), 'must have at most 5000 characters, but got 5001.'],
    ['nothing', '', 'must not be empty.'],
    ['white space only', ' \n\t\u00a0\u2003 ', 'must not be empty.'],
    ['a NUL', 'a\0b', 'must be text, without NUL characters.'],
    ['only a NUL', '\0', 'must be text, without NUL characters.'],
  ])('of %s is rejected by the gateway', async (_, userInstructions, issue) => {
    const { result } = await magicEdit(gateway, gateway.sandbox.ids.note(0, 0), {
      userInstructions,
    });
    expect(result.type).toBe('InvalidInput');
    expect(result.issues).toEqual([`"userInstructions" ${issue}`]);
    expect(gateway.sandbox.countOf()).toBe(0);
  });

  it.each([
    ['no id', 'x'],
    ['an empty text', ''],
    ['the nil UUID', '00000000-0000-0000-0000-000000000000'],
    ['a UUID and a query', '8f14e45f-ceea-467f-a8d1-6b1e7c1f0a2b?page=2'],
    ['a UUID and a line break', '8f14e45f-ceea-467f-a8d1-6b1e7c1f0a2b\r\nX: y'],
    ['the global id of a client', plainId('Client', '8f14e45f-ceea-467f-a8d1-6b1e7c1f0a2b')],
    ['200 kB', 'a'.repeat(200_000)],
  ])('with %s for a note id is rejected, without a call', async (_, id) => {
    const answer = await magicEdit(gateway, id);
    expect(codesOf(answer)).toEqual(['BAD_USER_INPUT']);
    expect(answer.errors?.[0]?.message).toBe(
      '"progressNoteId" must be a global id of type ProgressNote, or a UUID.',
    );
    expect(gateway.sandbox.countOf()).toBe(0);
  });

  it('with a key that is empty or too long is rejected by the gateway with all issues', async () => {
    const noteId = gateway.sandbox.ids.note(0, 0);
    const empty = await magicEdit(gateway, noteId, { idempotencyKey: '', userInstructions: ' ' });
    expect(empty.result.issues).toEqual([
      '"userInstructions" must not be empty.',
      '"idempotencyKey" must have 1 to 200 characters, but got 0.',
    ]);
    const long = await change(gateway, 'regenerate', noteId, { idempotencyKey: 'k'.repeat(201) });
    expect(long.result.issues).toEqual([
      '"idempotencyKey" must have 1 to 200 characters, but got 201.',
    ]);
    expect(gateway.sandbox.countOf()).toBe(0);
  });
});

describe('a regeneration', () => {
  it('is sent once, without a body', async () => {
    const { result } = await change(gateway, 'regenerate', gateway.sandbox.ids.note(2, 0));
    expect(result.type).toBe('ProgressNoteChange');
    const [sent] = gateway.sandbox.requests;
    expect(sent).toMatchObject({ route: 'POST /progress-notes/:progressNoteId/regenerate' });
    expect(sent?.headers['content-length']).toBe('0');
    expect(sent?.headers).not.toHaveProperty('content-type');
    expect(countOf(gateway, 'regenerate')).toBe(1);
  });
});

describe.each(allChanges)('%s', (name) => {
  it('rejects an invalid note id, without a call', async () => {
    expect(codesOf(await change(gateway, name, '../partners'))).toEqual(['BAD_USER_INPUT']);
    expect(gateway.sandbox.countOf()).toBe(0);
  });

  it('accepts the global id and the UUID, in upper case too', async () => {
    const { client, note, session } = gateway.sandbox.ids;
    const global = artifactId(gateway, 'ProgressNote', session(3, 0), client(3));
    for (const id of [global, note(3, 0).toUpperCase()]) await change(gateway, name, id);
    const sent = gateway.sandbox.requests.filter(({ method }) => method !== 'GET');
    expect(sent.map(({ path }) => path.split('/')[2])).toEqual([note(3, 0), note(3, 0)]);
  });

  it('edits the current note of the session, if the global id names it', async () => {
    const { client, note, session } = gateway.sandbox.ids;
    const id = artifactId(gateway, 'ProgressNote', session(8, 0), client(8));
    const present = randomUUID();
    gateway.sandbox.answerNext('GET /sessions/:id/progress-note', {
      times: 1,
      body: { progressNoteId: present, isLoading: false, note: ['x'] },
    });
    await change(gateway, name, id);
    const [sent] = gateway.sandbox.requests.filter(({ method }) => method !== 'GET');
    expect(sent?.path.split('/')[2]).toBe(present);
    // The bare UUID means exactly that note.
    gateway.sandbox.answerNext('GET /sessions/:id/progress-note', {
      times: 1,
      body: { progressNoteId: present, isLoading: false, note: ['x'] },
    });
    const named = { sessionId: session(8, 0), clientId: client(8) };
    const { result } = await change(gateway, name, note(8, 0), named);
    expect(result.type).toBe('NotFound');
  });

  it.each([
    [true, 'is still being generated for the first time'],
    [false, 'has no id'],
  ])('is invalid for a note without an id (loading: %s)', async (isLoading, issue) => {
    const { client, note, session } = gateway.sandbox.ids;
    const id = artifactId(gateway, 'ProgressNote', session(9, 0), client(9));
    gateway.sandbox.answerNext('GET /sessions/:id/progress-note', {
      times: 2,
      body: { isLoading, note: [] },
    });
    const byId = await change(gateway, name, id);
    // An event may have named the UUID of a note that the API still shows as loading.
    const named = { sessionId: session(9, 0), clientId: client(9) };
    const byUuid = await change(gateway, name, note(9, 0), named);
    for (const { result } of [byId, byUuid])
      expect(result).toMatchObject({
        type: 'InvalidInput',
        issues: [`"progressNoteId": the note ${issue}.`],
      });
    expect(gateway.sandbox.countOf(changes[name].route)).toBe(0);
  });

  it('is not found, and not sent, for a viewer without proof of whose note it is', async () => {
    const authorization = `Bearer ${await tokenFor([`clinic:${gateway.sandbox.ids.clinic(1)}`])}`;
    const noteId = gateway.sandbox.ids.note(4, 0);
    const { result } = await change(gateway, name, noteId, {}, { authorization });
    expect(result).toEqual({
      type: 'NotFound',
      message: expect.stringContaining('add `sessionId` and `clientId`'),
    });
    expect(gateway.sandbox.countOf()).toBe(0);
  });

  it('is allowed for a viewer whose arguments name the session and client of the note', async () => {
    const { ids } = gateway.sandbox;
    const authorization = `Bearer ${await tokenFor([`client:${ids.client(5)}`])}`;
    const parents = { sessionId: ids.session(5, 1), clientId: ids.client(5) };
    const { result } = await change(gateway, name, ids.note(5, 1), parents, { authorization });
    expect(result.type).toBe('ProgressNoteChange');
    expect(gateway.sandbox.countOf(changes[name].route)).toBe(1);
  });

  it('rejects a client that is not the one in the global id of the session', async () => {
    const { client, note, session } = gateway.sandbox.ids;
    const named = { sessionId: sessionId(gateway, session(6, 0), client(6)), clientId: client(7) };
    const answer = await change(gateway, name, note(6, 0), named);
    expect(codesOf(answer)).toEqual(['BAD_USER_INPUT']);
    expect(gateway.sandbox.countOf()).toBe(0);
  });

  it('rejects arguments that name another session of the viewer', async () => {
    const { ids } = gateway.sandbox;
    const authorization = `Bearer ${await tokenFor([`client:${ids.client(6)}`])}`;
    const parents = { sessionId: ids.session(6, 0), clientId: ids.client(6) };
    const { result } = await change(gateway, name, ids.note(7, 0), parents, { authorization });
    expect(result.type).toBe('NotFound');
    expect(gateway.sandbox.countOf(changes[name].route)).toBe(0);
  });
});
