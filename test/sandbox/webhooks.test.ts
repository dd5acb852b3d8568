import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../sandbox/sandbox.ts';
import { openQuietSandbox, type Caller } from '../support/sandbox/caller.ts';
import { openReceiver, type Receiver } from '../support/sandbox/receiver.ts';

let caller: Caller;
let receiver: Receiver;

beforeEach(async () => {
  receiver = await openReceiver();
});
afterEach(async () => {
  await caller.sandbox.close();
  await receiver.close();
});

async function open(options: SandboxOptions = {}) {
  caller = await openQuietSandbox({ firstRetryMs: 2, ...options });
  caller.sandbox.deliverTo(receiver.url);
  return caller.sandbox;
}
const kinds = () => receiver.received.map(({ event }) => event.eventType);
const countsById = () =>
  Object.values(
    Object.groupBy(receiver.received, ({ event }) => String(event.payload['sessionId'])),
  );

describe('an event', () => {
  it('of a session has the common fields, its own and no others', async () => {
    const sandbox = await open();
    const started = sandbox.startSession(sandbox.ids.client(0), {
      prescriber: true,
      finalize: true,
    });
    const { sessionExternalId, ...ids } = started;
    sandbox.settle();
    await sandbox.delivered();
    const common = { ...ids, ...(sessionExternalId !== undefined && { sessionExternalId }) };
    const url = `${sandbox.connection.baseUrl}/sessions/${ids.sessionId}`;
    const note = {
      ...common,
      progressNoteId: sandbox.noteIdOf(ids.sessionId),
      progressNoteUrl: `${url}/progress-note`,
      organization: ids.organizationId,
    };
    const payloads = new Map(
      receiver.received.map(({ event }) => [event.eventType, event.payload]),
    );
    expect(payloads.get('transcript_ready')).toEqual({
      ...common,
      transcriptUrl: `${url}/transcript`,
    });
    expect(payloads.get('progress_note_generated')).toEqual(note);
    expect(payloads.get('progress_note_finalized')).toEqual(note);
    expect(payloads.get('mdm_elements_identified')).toEqual({
      ...common,
      mdmId: expect.any(String),
      mdmUrl: `${url}/mdm`,
    });
  });

  it('of a failed transcription has a reason, and no URL', async () => {
    const sandbox = await open();
    const { sessionId } = sandbox.startSession(sandbox.ids.client(0), { failTranscription: true });
    sandbox.settle();
    await sandbox.delivered();
    const payload = receiver.received[0]?.event.payload ?? {};
    expect(payload).toMatchObject({ sessionId, error: expect.any(String) });
    expect(JSON.stringify(payload)).not.toContain('http');
  });

  it('of completed assessments has the patient as its only id', async () => {
    const sandbox = await open();
    const scoreIds = sandbox.completeAssessments(sandbox.ids.client(0), 2);
    await sandbox.delivered();
    const [first] = receiver.received;
    expect(first?.event.eventType).toBe('assessment_completed');
    expect(first?.event.payload).toEqual({
      patientId: sandbox.ids.client(0),
      assessmentScores: scoreIds.map((id, nth) => ({
        id,
        assessmentId: ['phq9', 'gad7'][nth],
        assessmentScoreUrl: `${sandbox.connection.baseUrl}/assessment-scores/${id}`,
      })),
    });
  });

  it('has a time stamp with a capital S', async () => {
    const sandbox = await open();
    sandbox.completeAssessments(sandbox.ids.client(0));
    await sandbox.delivered();
    const { event } = receiver.received[0] ?? {};
    expect(Object.keys(event ?? {})).toEqual(['eventType', 'timeStamp', 'payload']);
    expect(new Date(event?.timeStamp ?? '').toISOString()).toBe(event?.timeStamp);
  });
});

describe('a delivery', () => {
  it('is signed over its raw bytes with the client secret', async () => {
    const sandbox = await open({ signature: { header: 'x-other' } });
    sandbox.completeAssessments(sandbox.ids.client(0));
    await sandbox.delivered();
    const [first] = receiver.received;
    expect(first?.headers['x-other']).toBe(first?.signatureWith(sandbox.connection.clientSecret));
    expect(first?.headers['x-signature']).toBeUndefined();
  });

  it('is repeated until it gets a 2xx', async () => {
    receiver.answerWith(500, 0, 302, 404, 204);
    const sandbox = await open();
    sandbox.completeAssessments(sandbox.ids.client(0));
    await sandbox.delivered();
    expect(receiver.received).toHaveLength(5);
    expect(new Set(receiver.received.map(({ event }) => JSON.stringify(event))).size).toBe(1);
  });

  it('is kept while there is no receiver, the latest 1,000', async () => {
    const sandbox = await open();
    sandbox.deliverTo(undefined);
    sandbox.burst(1_100);
    sandbox.deliverTo(receiver.url);
    await sandbox.delivered();
    expect(receiver.received).toHaveLength(1_000);
  });

  it('is sent twice for the configured share', async () => {
    const sandbox = await open({ switches: { duplicateRate: 1 } });
    sandbox.completeAssessments(sandbox.ids.client(0));
    await sandbox.delivered();
    expect(kinds()).toEqual(['assessment_completed', 'assessment_completed']);
  });

  it('is sent out of order for the configured share, and none is lost', async () => {
    const sandbox = await open({ switches: { reorderRate: 0.5 } });
    sandbox.burst(40);
    await sandbox.delivered();
    expect(receiver.received).toHaveLength(40);
    const late = countsById().filter((pair) => pair?.[0]?.event.eventType !== 'transcript_ready');
    expect(late.length).toBeGreaterThan(0);
  });

  it('contains whatever a test emits', async () => {
    const sandbox = await open();
    const event = { eventType: 'new_kind', timeStamp: 'never', payload: { a: 1 } };
    sandbox.emit(event);
    await sandbox.delivered();
    expect(receiver.received[0]?.event).toEqual(event);
  });
});

describe('a burst', () => {
  it('is that many events of sessions that can be fetched', async () => {
    const sandbox = await open();
    sandbox.burst(20);
    await sandbox.delivered();
    expect(receiver.received).toHaveLength(20);
    const { event } =
      receiver.received.find(({ event: { payload } }) => 'progressNoteId' in payload) ?? {};
    const { status, body } = await caller.ask(
      `/progress-notes/${String(event?.payload['progressNoteId'])}`,
    );
    expect(status).toBe(200);
    expect(body.isLoading).toBe(false);
  });
});

describe('the pulse', () => {
  it('starts sessions by itself, and every step of them follows', async () => {
    const sandbox = await open({
      switches: { pulseMs: 5, transcriptMs: 0, noteMs: 0, mdmMs: 0, finalizeMs: 0 },
    });
    await expect
      .poll(() => new Set(kinds()), { interval: 5 })
      .toEqual(
        new Set([
          'transcript_ready',
          'progress_note_generated',
          'progress_note_finalized',
          'mdm_elements_identified',
          'session_transcript_error',
          'assessment_completed',
        ]),
      );
    sandbox.set({ pulseMs: 0 });
  });
});
