import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AnyBody } from '../support/sandbox/bodies.ts';
import { openQuietSandbox, type Caller } from '../support/sandbox/caller.ts';

let caller: Caller;
let noteId: string;
beforeEach(async () => {
  caller = await openQuietSandbox();
  noteId = caller.sandbox.ids.note(0, 0);
});
afterEach(() => caller.sandbox.close());

const note = (id = noteId) => caller.ask(`/progress-notes/${id}`);
const patch = (body: unknown, id = noteId) =>
  caller.ask(`/progress-notes/${id}`, { method: 'PATCH', body });
const edit = (userInstructions: unknown, id = noteId) =>
  caller.ask(`/progress-notes/${id}/magic-edit`, { method: 'POST', body: { userInstructions } });
const regenerate = (id = noteId) =>
  caller.ask(`/progress-notes/${id}/regenerate`, { method: 'POST' });

describe('a note', () => {
  it('is the same by its id and by its session', async () => {
    const bySession = await caller.ask(
      `/sessions/${caller.sandbox.ids.session(0, 0)}/progress-note`,
    );
    expect(bySession.body).toEqual((await note()).body);
    expect(bySession.body).toMatchObject({ progressNoteId: noteId, isLoading: false });
  });

  it('reads like clinical documentation', async () => {
    const sections = (await note()).body.note;
    expect(sections.length).toBeGreaterThanOrEqual(3);
    for (const { title, text } of sections) {
      expect(title).toMatch(/^[A-Z]/);
      expect(text.length).toBeGreaterThan(80);
    }
  });

  it('exists for ten sessions of each of the first 25 clients', async () => {
    const { client } = caller.sandbox.ids;
    const lists = await Promise.all(
      [...Array(25).keys()].map((nth) => caller.ask(`/clients/${client(nth)}/sessions`)),
    );
    const sessions = lists.flatMap(({ body }) => body.data);
    expect(sessions).toHaveLength(250);
    const notes = await Promise.all(
      sessions.map(({ sessionId }) => caller.ask(`/sessions/${sessionId}/progress-note`)),
    );
    expect(notes.filter(({ body }) => !body.isLoading && body.note.length > 2)).toHaveLength(250);
  });
});

describe('PATCH', () => {
  it('replaces the content', async () => {
    const content = [{ title: 'Plan', text: 'Rest.' }, 'or anything else'];
    expect((await patch({ note: content })).body).toMatchObject({
      progressNoteId: noteId,
      note: content,
    });
    expect((await note()).body.note).toEqual(content);
  });

  it('does not change the content if it has none', async () => {
    const before = (await note()).body;
    expect((await patch({ other: 1 })).body).toEqual(before);
  });

  it.each([[[]], ['text'], [null], [{ note: 'text' }], [{ note: {} }]])(
    'rejects %j',
    async (body) => {
      const answer = await patch(body);
      expect(answer.status).toBe(400);
      expect(answer.body.error.message.message[0]).toMatch(/must be an/);
    },
  );
});

describe('a magic edit', () => {
  it('loads, then has the change under the same id, and sends an event', async () => {
    const before = (await note()).body.note;
    expect((await edit('  Make it shorter.  ')).status).toBe(200);
    expect((await note()).body).toMatchObject({ progressNoteId: noteId, isLoading: true });
    caller.sandbox.settle();
    const after = (await note()).body;
    expect(after).toMatchObject({ progressNoteId: noteId, isLoading: false });
    expect(after.note.map(({ title }) => title)).toEqual(before.map(({ title }) => title));
    for (const [index, { text }] of after.note.entries())
      expect(text.length).toBeLessThan(before[index]?.text.length ?? 0);
    expect(caller.sandbox.events.map(({ eventType }) => eventType)).toEqual([
      'progress_note_regenerated',
    ]);
  });

  async function planAfter(instructions: string) {
    await edit(instructions);
    caller.sandbox.settle();
    return (await note()).body.note.find(({ title }) => title === 'Plan')?.text ?? '';
  }

  it('of the plan changes the plan and nothing else', async () => {
    const before = (await note()).body.note;
    const plan = await planAfter('Make the plan shorter.');
    const after = (await note()).body.note;
    expect(after.slice(0, -1)).toEqual(before.slice(0, -1));
    expect(before.at(-1)?.text.startsWith(plan)).toBe(true);
    expect(plan.length).toBeLessThan(before.at(-1)?.text.length ?? 0);
  });

  it.each([
    ['Make the plan a numbered list.', /^1\. [A-Z].+\.\n2\. [A-Z]/],
    ['Add to the plan that the client will call on Friday.', / The client will call on Friday\.$/],
    ['Mention that the client declined a referral.', / The client declined a referral\.$/],
    ['Add the next appointment: 3 May', / The next appointment: 3 May\.$/],
    ['Add that the client is short of breath.', / The client is short of breath\.$/],
    ['Mention that the client is on a waiting list.', / The client is on a waiting list\.$/],
    ['Replace "Safety plan" with "Crisis plan"', /Crisis plan/],
  ])('follows its instructions: %s', async (instructions, expected) => {
    expect(await planAfter(instructions)).toMatch(expected);
  });

  it('numbers a list once', async () => {
    const first = await planAfter('Make the plan a numbered list.');
    expect(await planAfter('Make the plan a numbered list.')).toBe(first);
  });

  it('removes a sentence', async () => {
    expect(await planAfter('Remove the crisis line from the plan.')).not.toMatch(/crisis line/);
  });

  it('keeps elements that are not sections', async () => {
    await patch({ note: ['free text', { title: 'Plan', text: 'Rest. Walk.' }] });
    expect(await planAfter('Shorten it')).toBe('Rest.');
    expect((await note()).body.note[0]).toBe('free text');
  });

  it('is listed for the clinician, newest first', async () => {
    const list = `/clinicians/${caller.sandbox.ids.clinician(0)}/magic-edit`;
    const before = (await caller.ask(list)).body.meta.totalItems;
    await edit('One.');
    await edit('Two.');
    const { body } = await caller.ask(list);
    expect(body.meta.totalItems).toBe(before + 2);
    expect(body.data.slice(0, 2).map((row) => row.userInstructions)).toEqual(['Two.', 'One.']);
  });

  it('gives the third rewrite another id, and the old one is not found', async () => {
    for (const _ of [1, 2, 3]) {
      await regenerate();
      caller.sandbox.settle();
    }
    expect((await note()).status).toBe(404);
    const current = caller.sandbox.noteIdOf(caller.sandbox.ids.session(0, 0)) ?? '';
    expect(current).not.toBe(noteId);
    expect((await note(current)).body.progressNoteId).toBe(current);
    expect(caller.sandbox.events.at(-1)?.payload).toMatchObject({ progressNoteId: current });
  });

  it('loads until the last of several is done', async () => {
    await Promise.all([edit('One.'), edit('Two.'), regenerate()]);
    expect((await note()).body.isLoading).toBe(true);
    caller.sandbox.settle();
    expect(caller.sandbox.events).toHaveLength(3);
  });

  it('accepts at most 5,000 characters after trimming', async () => {
    expect((await edit(` ${'x'.repeat(5_000)} `)).status).toBe(200);
    expect((await edit('x'.repeat(5_001))).status).toBe(400);
  });

  it.each(['', '   ', 5, undefined, null])(
    'rejects %j with a list of fields',
    async (instructions) => {
      const { status, body } = await edit(instructions);
      expect(status).toBe(400);
      expect(body.error.message.message[0]).toMatch(/^userInstructions /);
    },
  );
});

describe('a regeneration', () => {
  it('words the note differently', async () => {
    const before = (await note()).body.note;
    expect((await regenerate()).status).toBe(200);
    caller.sandbox.settle();
    const after = (await note()).body.note;
    expect(after.map(({ title }) => title)).toEqual(before.map(({ title }) => title));
    for (const [index, { text }] of after.entries()) expect(text).not.toBe(before[index]?.text);
  });

  it('keeps the facts', async () => {
    const quoteIn = (sections: AnyBody['note']) => /"(.+?)"/.exec(sections[0]?.text ?? '')?.[1];
    const before = quoteIn((await note()).body.note);
    await regenerate();
    caller.sandbox.settle();
    const { body } = await caller.ask(`/sessions/${caller.sandbox.ids.session(0, 0)}/transcript`);
    expect(before).toBeTypeOf('string');
    expect(quoteIn((await note()).body.note)).toBe(before);
    expect(body.transcriptItems.map(({ transcript }) => transcript)).toContain(before);
  });
});

describe('a finalized note', () => {
  it('is locked for PATCH, magic edit and regeneration', async () => {
    caller.sandbox.finalize(noteId);
    for (const { status, body } of [
      await patch({ note: [] }),
      await edit('x'),
      await regenerate(),
    ]) {
      expect(status).toBe(403);
      expect(body.error.message).toBe('Progress note is locked');
    }
    expect((await note()).status).toBe(200);
  });

  it('is finalized once, with one event', () => {
    caller.sandbox.finalize(noteId);
    caller.sandbox.finalize(noteId);
    expect(caller.sandbox.events.map(({ eventType }) => eventType)).toEqual([
      'progress_note_finalized',
    ]);
  });

  it('stays as it was signed, even during a rewrite', async () => {
    const before = (await note()).body;
    await edit('Too late.');
    caller.sandbox.finalize(noteId);
    expect((await note()).body).toEqual(before);
    caller.sandbox.settle();
    expect((await note()).body).toEqual(before);
  });

  it('is what older notes of the seed are', async () => {
    expect((await edit('x', caller.sandbox.ids.note(0, 2))).status).toBe(200);
    expect((await edit('x', caller.sandbox.ids.note(0, 3))).status).toBe(403);
  });
});
