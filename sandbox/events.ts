import type { Ids } from './ids.ts';
import { clinicOfClinician, organizationOfClinic } from './layout.ts';
import type { Note, Notes } from './notes.ts';
import type { CompletedAssessment } from './scores.ts';
import type { Session } from './session-book.ts';

export interface WebhookEvent {
  readonly eventType: string;
  readonly timeStamp: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export type NoteEventType =
  | 'progress_note_generated'
  | 'progress_note_regenerated'
  | 'progress_note_finalized';

/** The seven kinds of events, worded as the API words them. */
export interface EventMaker {
  readonly note: (eventType: NoteEventType, note: Note) => WebhookEvent;
  readonly transcriptReady: (session: Session) => WebhookEvent;
  readonly transcriptError: (session: Session) => WebhookEvent;
  readonly mdmIdentified: (session: Session) => WebhookEvent;
  readonly assessmentCompleted: (
    client: number,
    scores: readonly CompletedAssessment[],
  ) => WebhookEvent;
}

export function createEventMaker(ids: Ids, notes: Notes, baseUrl: () => string): EventMaker {
  const urlOf = (session: Session, part: string) =>
    `${baseUrl()}/sessions/${ids.idOf('session', session.key)}/${part}`;

  return {
    note: (eventType, note) =>
      stamped(eventType, {
        ...common(ids, note.session),
        progressNoteId: notes.idOf(note),
        progressNoteUrl: urlOf(note.session, 'progress-note'),
        organization: organizationIdOf(ids, note.session),
      }),
    transcriptReady: (session) =>
      stamped('transcript_ready', {
        ...common(ids, session),
        transcriptUrl: urlOf(session, 'transcript'),
      }),
    transcriptError: (session) =>
      stamped('session_transcript_error', {
        ...common(ids, session),
        error: 'The recording holds no intelligible speech.',
      }),
    mdmIdentified: (session) =>
      stamped('mdm_elements_identified', {
        ...common(ids, session),
        mdmId: ids.idOf('mdm', session.key),
        mdmUrl: urlOf(session, 'mdm'),
      }),
    assessmentCompleted: (client, scores) =>
      stamped('assessment_completed', {
        patientId: ids.idOf('client', client),
        assessmentScores: scores.map(({ id, assessmentId }) => ({
          id,
          assessmentId,
          assessmentScoreUrl: `${baseUrl()}/assessment-scores/${id}`,
        })),
      }),
  };
}

function common(ids: Ids, session: Session) {
  return {
    sessionId: ids.idOf('session', session.key),
    ...(session.externalId !== undefined && { sessionExternalId: session.externalId }),
    clientId: ids.idOf('client', session.client),
    clinicianId: ids.idOf('clinician', session.clinician),
    clinicId: ids.idOf('clinic', clinicOfClinician(session.clinician)),
    organizationId: organizationIdOf(ids, session),
  };
}

const organizationIdOf = (ids: Ids, session: Session) =>
  ids.idOf('organization', organizationOfClinic(clinicOfClinician(session.clinician)));

const stamped = (eventType: string, payload: WebhookEvent['payload']): WebhookEvent => ({
  eventType,
  timeStamp: new Date().toISOString(),
  payload,
});
