import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openQuietSandbox, type Caller } from '../support/sandbox/caller.ts';

let caller: Caller;
beforeEach(async () => {
  caller = await openQuietSandbox();
});
afterEach(() => caller.sandbox.close());

const of = (sessionId: string, part: string) => caller.ask(`/sessions/${sessionId}/${part}`);
const kinds = () => caller.sandbox.events.map(({ eventType }) => eventType);

describe('a new session', () => {
  it('is the first in its client’s list', async () => {
    const { sandbox } = caller;
    const { sessionId, clientId } = sandbox.startSession(sandbox.ids.client(0));
    const { body } = await caller.ask(`/clients/${clientId}/sessions`);
    expect(body.data[0]?.sessionId).toBe(sessionId);
    expect(body.data[1]?.sessionId).toBe(sandbox.ids.session(0, 0));
  });

  it('loads an empty note without an id, then a partial one, then all of it', async () => {
    const { sessionId } = caller.sandbox.startSession(caller.sandbox.ids.client(0));
    for (const sections of [0, 0, 1]) {
      const { body } = await of(sessionId, 'progress-note');
      expect(body).toMatchObject({ isLoading: true });
      expect(body.progressNoteId).toBeUndefined();
      expect(body.note).toHaveLength(sections);
      caller.sandbox.step();
    }
    const { body } = await of(sessionId, 'progress-note');
    expect(body).toMatchObject({
      isLoading: false,
      progressNoteId: caller.sandbox.noteIdOf(sessionId),
    });
    expect(body.note.length).toBeGreaterThan(2);
  });

  it('has its transcript first, then its note, then its MDM if a prescriber held it', async () => {
    const { sandbox } = caller;
    const { sessionId } = sandbox.startSession(sandbox.ids.client(0), { prescriber: true });
    expect((await of(sessionId, 'mdm')).body.problemsAddressed).toBeUndefined();
    sandbox.settle();
    expect(kinds()).toEqual([
      'transcript_ready',
      'progress_note_generated',
      'mdm_elements_identified',
    ]);
    const { body } = await of(sessionId, 'mdm');
    expect(['na', 'minimal', 'low', 'moderate', 'high']).toContain(
      body.problemsAddressed[0]?.level,
    );
  });

  it('never has MDM if it is a therapist’s', async () => {
    const { sandbox } = caller;
    const { sessionId } = sandbox.startSession(sandbox.ids.client(0), { prescriber: false });
    sandbox.settle();
    expect(kinds()).toEqual(['transcript_ready', 'progress_note_generated']);
    expect((await of(sessionId, 'mdm')).body.problemsAddressed).toBeUndefined();
  });

  it('has neither transcript nor note if the transcription fails', async () => {
    const { sandbox } = caller;
    const { sessionId } = sandbox.startSession(sandbox.ids.client(0), { failTranscription: true });
    sandbox.settle();
    expect(kinds()).toEqual(['session_transcript_error']);
    expect((await of(sessionId, 'transcript')).body.transcriptItems).toBeUndefined();
    expect((await of(sessionId, 'progress-note')).status).toBe(404);
  });

  it('is finalized without a request if it was started that way', () => {
    caller.sandbox.startSession(caller.sandbox.ids.client(0), {
      finalize: true,
      prescriber: false,
    });
    caller.sandbox.settle();
    expect(kinds().at(-1)).toBe('progress_note_finalized');
  });
});

describe('a transcript', () => {
  it('is a conversation in order of time', async () => {
    const { body } = await of(caller.sandbox.ids.session(0, 0), 'transcript');
    const { transcriptItems: items } = body;
    expect(items.length).toBeGreaterThan(10);
    expect(Object.keys(items[0] ?? {})).toEqual(['startTime', 'endTime', 'speaker', 'transcript']);
    const times = items.map(({ startTime }) => Number(startTime));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  it('that does not exist yet is a 200 with an error in it, or the announced 404', async () => {
    const { sessionId } = caller.sandbox.startSession(caller.sandbox.ids.client(0));
    for (const part of ['transcript', 'mdm']) {
      const today = await of(sessionId, part);
      expect(today.status).toBe(200);
      expect(today.body.error).toBeDefined();
      caller.sandbox.set({ notReadyAs404: true });
      const announced = await of(sessionId, part);
      expect(announced.status).toBe(404);
      expect(announced.body.error.statusCode).toBe(404);
      caller.sandbox.set({ notReadyAs404: false });
    }
  });
});

describe('an assessment score', () => {
  it('adds up its answers', async () => {
    const [seeded = ''] = caller.sandbox.ids.scores(0);
    const [added = ''] = caller.sandbox.completeAssessments(caller.sandbox.ids.client(0));
    for (const id of [seeded, added]) {
      const { body } = await caller.ask(`/assessment-scores/${id}`);
      const sum = body.answers.reduce((total, { answerValue }) => total + answerValue, 0);
      expect(body.totalScore).toBe(sum);
      expect(Object.keys(body.answers[0] ?? {})).toEqual([
        'questionKey',
        'questionDisplay',
        'answerValue',
        'answerDisplay',
      ]);
    }
  });
});

describe('the seed', () => {
  it.each([
    [25, 0],
    [26, 9],
    [27, 10],
    [28, 11],
    [29, 25],
  ])('gives client %i exactly %i sessions', async (client, count) => {
    const { body } = await caller.ask(`/clients/${caller.sandbox.ids.client(client)}/sessions`);
    expect(body.meta).toMatchObject({ totalItems: count, totalPages: Math.ceil(count / 10) });
  });

  it('has sessions without a transcript, and some that failed', async () => {
    const { ids } = caller.sandbox;
    const sessions = [...Array(30).keys()].map((nth) => ids.client(100 + nth));
    const lists = await Promise.all(sessions.map((id) => caller.ask(`/clients/${id}/sessions`)));
    const answers = await Promise.all(
      lists
        .flatMap(({ body }) => body.data)
        .map(({ sessionId }) =>
          Promise.all([of(sessionId, 'transcript'), of(sessionId, 'progress-note')]),
        ),
    );
    const missing = answers.filter(([transcript]) => transcript.body.transcriptItems === undefined);
    expect(new Set(missing.map(([, note]) => note.status))).toEqual(new Set([200, 404]));
    expect(missing.length).toBeLessThan(answers.length / 5);
  });
});
