import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { transcriptReady } from '../support/access/transcript-ready.ts';
import { createManualClock } from '../support/access/viewers.ts';
import { type Gateway, openGateway } from '../support/gateway.ts';
import { artifactId } from '../support/global-id.ts';
import { counted } from '../support/graph/counted.ts';
import { leavesOf } from '../support/graph/leaves.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- answers are asserted on, not computed with
type Json = any;

const AN_HOUR_MS = 3_600_000;

let gateway: Gateway;
let sandbox: Gateway['sandbox'];
let ids: Gateway['sandbox']['ids'];
beforeAll(async () => {
  const slow = { transcriptMs: AN_HOUR_MS, noteMs: AN_HOUR_MS, mdmMs: AN_HOUR_MS };
  gateway = await openGateway({ switches: slow });
  ({ sandbox } = gateway);
  ({ ids } = sandbox);
});
afterAll(() => gateway.close());

const ARTIFACTS = `query($id: ID!) { session(id: $id) { progressNote { id progressNoteId isLoading note }
  transcript { id } transcriptStatus mdm { id } mdmStatus } }`;
const artifactsOf = async (id: string) => {
  const { data, errors, calls } = await counted(gateway, ARTIFACTS, { id });
  return { ...data.session, errors, calls };
};
/** Runs the next step of the sandbox, and delivers its event. */
async function step(): Promise<void> {
  sandbox.step();
  await sandbox.delivered();
}

describe('an artifact of a session', () => {
  it('is a note, a transcript and MDM elements, each for one call', async () => {
    const { data, calls } = await counted(
      gateway,
      `query($id: ID!) { session(id: $id) { progressNote { ${leavesOf('ProgressNote')} }
        transcript { ${leavesOf('Transcript')} } transcriptStatus mdm { ${leavesOf('MDM')} } mdmStatus } }`,
      { id: ids.session(1, 0) },
    );
    expect(calls).toBe(3);
    const { progressNote, transcript, mdm, transcriptStatus, mdmStatus } = data.session;
    expect(progressNote).toMatchObject({
      progressNoteId: ids.note(1, 0),
      isLoading: false,
      isLocked: null,
    });
    expect(progressNote.note).toEqual(progressNote.raw.note);
    expect(progressNote.raw.noteType).toEqual(expect.any(String));
    const { startTime, endTime, speaker, transcript: said } = transcript.raw.transcriptItems[2];
    expect(transcript.items[2]).toEqual({ startTime, endTime, speaker, transcript: said });
    const { rationale, level } = mdm.raw.problemsAddressed[0];
    expect(mdm.problemsAddressed[0]).toEqual({ rationale, level: level.toUpperCase() });
    expect(mdm.risk).toEqual(mdm.raw.riskOfComplications);
    expect(mdm.crisisIntervention).toBe(mdm.raw.crisisInterventionIdentified);
    expect([transcriptStatus, mdmStatus]).toEqual(['READY', 'READY']);
  });

  it('is found by its own route, and links to its session', async () => {
    const { data, calls } = await counted(
      gateway,
      `{ progressNote(id: "${ids.note(4, 1)}") { progressNoteId session { sessionId } }
         node(id: "${artifactId(gateway, 'Transcript', ids.session(4, 1))}") { ... on Transcript { session { sessionId } } } }`,
    );
    expect(calls).toBe(2);
    expect(data.progressNote).toEqual({
      progressNoteId: ids.note(4, 1),
      session: { sessionId: ids.session(4, 1) },
    });
    expect(data.node.session.sessionId).toBe(ids.session(4, 1));
  });

  it('returns an unknown MDM level as null, and assumes no name', async () => {
    const body = {
      problemsAddressed: [{ rationale: 'x', level: 'extreme' }],
      crisis: 'yes',
      'Risk level': 3,
    };
    sandbox.answerNext('/sessions/:id/mdm', { body });
    const document = `query($id: ID!) { session(id: $id) { mdm { ${leavesOf('MDM')} } } }`;
    const { data } = await counted(gateway, document, { id: ids.session(4, 2) });
    expect(data.session.mdm).toMatchObject({
      problemsAddressed: [{ rationale: 'x', level: null }],
      risk: 3,
      crisisIntervention: null,
      raw: body,
    });
  });
});

describe('an artifact that does not exist yet', () => {
  it.each([false, true])('is no error (404 instead of 200: %s)', async (notReadyAs404) => {
    sandbox.set({ notReadyAs404 });
    const { sessionId } = sandbox.startSession(ids.client(1));
    const session = await artifactsOf(sessionId);
    expect(session).toMatchObject({
      progressNote: { progressNoteId: null, isLoading: true, note: [] },
      transcript: null,
      transcriptStatus: 'NOT_READY',
      mdm: null,
      mdmStatus: 'NOT_READY',
      errors: undefined,
      calls: 3,
    });
    sandbox.settle();
    await sandbox.delivered();
  });

  it('is returned as soon as its event is applied, whatever was cached', async () => {
    const { sessionId } = sandbox.startSession(ids.client(1), { prescriber: true });
    expect(await artifactsOf(sessionId)).toMatchObject({ transcriptStatus: 'NOT_READY' });
    await step();
    expect(await artifactsOf(sessionId)).toMatchObject({
      transcriptStatus: 'READY',
      transcript: { id: artifactId(gateway, 'Transcript', sessionId) },
      progressNote: { isLoading: true },
    });
    sandbox.settle();
    await sandbox.delivered();
    expect(await artifactsOf(sessionId)).toMatchObject({
      mdmStatus: 'READY',
      mdm: { id: artifactId(gateway, 'MDM', sessionId) },
      progressNote: { isLoading: false, note: expect.arrayContaining([expect.anything()]) },
    });
  });

  it('keeps a note’s id from its first generation on, over regenerations that rename the note', async () => {
    const { sessionId } = sandbox.startSession(ids.client(40));
    const WALK = `query($id: ID!) { client(id: $id) { sessions(first: 100) { nodes { sessionId progressNote {
      id progressNoteId } } } } }`;
    const read = async () => {
      const { data } = await counted(gateway, WALK, { id: ids.client(40) });
      return data.client.sessions.nodes.find((node: Json) => node.sessionId === sessionId)
        .progressNote;
    };
    const first = await read();
    expect(first).toEqual({
      id: artifactId(gateway, 'ProgressNote', sessionId, ids.client(40)),
      progressNoteId: null,
    });
    sandbox.settle();
    await sandbox.delivered();
    const generated = await read();
    expect(generated).toEqual({ id: first.id, progressNoteId: sandbox.noteIdOf(sessionId) });
    sandbox.set({ newNoteIdEvery: 1 });
    await gateway.query(
      'mutation($id: ID!) { regenerateProgressNote(input: { progressNoteId: $id }) { __typename } }',
      { id: first.id },
    );
    sandbox.settle();
    await sandbox.delivered();
    const renamed = await read();
    expect(renamed.id).toBe(first.id);
    expect(renamed.progressNoteId).not.toBe(generated.progressNoteId);
    const byId = await counted(
      gateway,
      'query($id: ID!) { progressNote(id: $id) { progressNoteId } }',
      {
        id: first.id,
      },
    );
    expect(byId.data.progressNote.progressNoteId).toBe(renamed.progressNoteId);
  });

  it('is FAILED once transcription failed, and still no error', async () => {
    const { sessionId } = sandbox.startSession(ids.client(1), { failTranscription: true });
    expect(await artifactsOf(sessionId)).toMatchObject({ transcriptStatus: 'NOT_READY' });
    sandbox.settle();
    await sandbox.delivered();
    expect(await artifactsOf(sessionId)).toMatchObject({
      progressNote: null,
      transcript: null,
      transcriptStatus: 'FAILED',
      mdm: null,
      mdmStatus: 'FAILED',
      errors: undefined,
    });
  });

  it('is requested once while it does not exist, not with every query', async () => {
    const { sessionId } = sandbox.startSession(ids.client(3));
    expect((await artifactsOf(sessionId)).calls).toBe(3);
    expect((await artifactsOf(sessionId)).calls).toBe(0);
  });
});

describe('an assessment score', () => {
  const SCORE = `query($id: ID!) { assessmentScore(id: $id) { ${leavesOf('AssessmentScore')} client { clientId } } }`;

  it('has a total and answers, and a client where its id is from an event', async () => {
    const [seeded = ''] = ids.scores(7);
    const { data, calls } = await counted(gateway, SCORE, { id: seeded });
    const { raw, answers, totalScore, client } = data.assessmentScore;
    expect([calls, client]).toEqual([1, null]);
    expect([totalScore, answers]).toEqual([raw.totalScore, raw.answers]);
    expect(data.assessmentScore.assessmentId).toBe(raw.assessmentId);
    const [completed = ''] = sandbox.completeAssessments(ids.client(7));
    await sandbox.delivered();
    const { data: log } =
      await gateway.query(`{ events(first: 100) { nodes { ... on AssessmentCompleted {
      assessmentScore { id assessmentScoreId } } } } }`);
    const { assessmentScore } = log.events.nodes.find(
      (node: Json) => node.assessmentScore?.assessmentScoreId === completed,
    );
    const delivered = await counted(gateway, SCORE, { id: assessmentScore.id });
    expect(delivered.data.assessmentScore).toMatchObject({
      assessmentScoreId: completed,
      client: { clientId: ids.client(7) },
    });
  });

  it('has null for fields of another shape, with raw intact', async () => {
    const body = {
      totalScore: '7',
      answers: [{ questionKey: 'q1', answerValue: { odd: true } }, 'x'],
    };
    sandbox.answerNext('/assessment-scores/:id', { body });
    const { data, errors } = await counted(gateway, SCORE, { id: ids.scores(8)[0] });
    expect(errors).toBeUndefined();
    expect(data.assessmentScore).toMatchObject({
      totalScore: null,
      answers: [{ questionKey: 'q1', questionDisplay: null, answerValue: { odd: true } }],
      raw: body,
    });
  });
});

it('an event of one session does not invalidate that another has no note yet', async () => {
  await using fresh = await openGateway({ clock: createManualClock() });
  const { sandbox: api } = fresh;
  const none = { status: 404, body: { error: { message: 'none' } }, times: 2 };
  api.answerNext('GET /sessions/:sessionId/progress-note', none);
  const NOTES = `{ a: session(id: "${api.ids.session(0, 0)}") { progressNote { id } }
    b: session(id: "${api.ids.session(0, 1)}") { progressNote { id } } }`;
  expect((await fresh.query(NOTES)).data).toEqual({
    a: { progressNote: null },
    b: { progressNote: null },
  });
  api.finalize(api.ids.note(0, 0));
  await api.delivered();
  const { data, calls } = await counted(fresh, NOTES);
  expect(data).toEqual({
    a: { progressNote: { id: expect.any(String) } },
    b: { progressNote: null },
  });
  expect(calls).toBe(1);
});

it('a regeneration under a new id invalidates the note that it replaces, also if that names no session', async () => {
  await using fresh = await openGateway({ clock: createManualClock() });
  const { sandbox: api } = fresh;
  const [progressNoteId, sessionId] = [api.ids.note(0, 0), api.ids.session(0, 0)];
  const replaced = { progressNoteId, isLoading: false, note: ['replaced'] };
  api.answerNext('GET /progress-notes/:progressNoteId', { body: replaced });
  api.answerNext('GET /progress-notes/:progressNoteId', { status: 404, body: { error: {} } });
  const NOTE = `{ progressNote(id: "${progressNoteId}") { note } }`;
  expect((await fresh.query(NOTE)).data.progressNote).toEqual({ note: ['replaced'] });
  const regenerated = { sessionId, progressNoteId: randomUUID() };
  api.emit({ ...transcriptReady(regenerated), eventType: 'progress_note_regenerated' });
  await api.delivered();
  expect((await fresh.query(NOTE)).data.progressNote).toBeNull();
});

it('an event invalidates its client’s sessions, the magic edits and the score that it names', async () => {
  await using fresh = await openGateway({ clock: createManualClock() });
  const { sandbox: api } = fresh;
  const [score] = api.completeAssessments(api.ids.client(0));
  await api.delivered();
  const completed = api.events.at(-1)!;
  const before = { body: { data: [], meta: { totalItems: 0, currentPage: 1 } } };
  api.answerNext('GET /clients/:clientId/sessions', before);
  api.answerNext('GET /clinicians/:clinicianId/magic-edit', before);
  api.answerNext('GET /assessment-scores/:id', { status: 404, body: { error: {} } });
  const ALL = `{ client(id: "${api.ids.client(0)}") { sessions { totalCount } }
    clinician(id: "${api.ids.clinician(0)}") { magicEdits { totalCount } }
    assessmentScore(id: "${score}") { totalScore } }`;
  const empty = { totalCount: 0 };
  const cached = {
    client: { sessions: empty },
    clinician: { magicEdits: empty },
    assessmentScore: null,
  };
  expect((await fresh.query(ALL)).data).toEqual(cached);
  expect((await fresh.query(ALL)).data).toEqual(cached);
  api.finalize(api.ids.note(0, 0));
  api.emit(completed);
  await api.delivered();
  const { data } = await fresh.query(ALL);
  expect(data.client.sessions.totalCount).toBeGreaterThan(0);
  expect(data.clinician.magicEdits.totalCount).toBeGreaterThan(0);
  expect(data.assessmentScore).not.toBeNull();
});
