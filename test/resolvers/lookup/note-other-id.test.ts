import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { noteEvent, signed } from '../../support/faults/sender.ts';
import { type Gateway, openGateway } from '../../support/gateway.ts';

let gateway: Gateway;
let ids: Gateway['sandbox']['ids'];
beforeAll(async () => {
  gateway = await openGateway();
  ({ ids } = gateway.sandbox);
});
afterAll(() => gateway.close());
beforeEach(() => gateway.sandbox.clearAnswers());

const ROUTE = 'GET /progress-notes/:id';

const readById = async (id: string): Promise<unknown> =>
  (await gateway.query('query($id: ID!) { progressNote(id: $id) { note } }', { id })).data
    .progressNote.note;

const readBySession = (id: string) =>
  gateway.query('query($id: ID!) { session(id: $id) { progressNote { note } } }', { id });

/** Sets the next response of the Partner API for the note. */
const answerNote = (
  progressNoteId: string,
  text: string,
  more: object = {},
  heldUntil = Promise.resolve(),
) =>
  gateway.sandbox.answerNext(ROUTE, {
    times: 1,
    heldUntil,
    body: { progressNoteId, isLoading: false, note: [text], ...more },
  });

/** Delivers an event that names another id for the session's note. */
async function rewritten(client: number): Promise<void> {
  const body = noteEvent(gateway.sandbox, randomUUID(), client);
  const headers = signed(gateway.sandbox, body);
  const answer = await fetch(`${gateway.url}/webhooks`, { method: 'POST', body, headers });
  expect(answer.status).toBe(200);
}

/** By its old id a note is cached separately from its session, and the event does not name it. */
describe('an event that names another note of the session', () => {
  it('invalidates what was read by the previous id', async () => {
    const note = ids.note(0, 0);
    answerNote(note, 'old', { sessionId: ids.session(0, 0) });
    expect(await readById(note)).toEqual(['old']);
    await rewritten(0);
    answerNote(note, 'new');
    expect(await readById(note)).toEqual(['new']);
  });

  it('invalidates it although it named no session, if the note was read by its session too', async () => {
    const note = ids.note(1, 0);
    answerNote(note, 'old');
    expect(await readById(note)).toEqual(['old']);
    await readBySession(ids.session(1, 0));
    await rewritten(1);
    answerNote(note, 'new');
    expect(await readById(note)).toEqual(['new']);
  });

  it.each([
    ['where its session was read', 2, true],
    ['where only the answer names its session', 3, false],
  ])('ends the reads in flight, %s', async (_, client, isSessionRead) => {
    const [note, sessionId] = [ids.note(client, 0), ids.session(client, 0)];
    if (isSessionRead) await readBySession(sessionId);
    const answer = Promise.withResolvers<void>();
    answerNote(note, 'old', isSessionRead ? {} : { sessionId }, answer.promise);
    const before = gateway.sandbox.countOf(ROUTE);
    const early = readById(note);
    await expect.poll(() => gateway.sandbox.countOf(ROUTE)).toBe(before + 1);
    await rewritten(client);
    answer.resolve();
    expect(await early).toEqual(['old']);
    answerNote(note, 'new');
    expect(await readById(note)).toEqual(['new']);
  });
});
