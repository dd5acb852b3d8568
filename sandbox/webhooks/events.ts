import { clinicOfClinician, organizationOfClinic } from '../data/hierarchy.ts';
import type { Note } from '../data/notes.ts';
import type { PartnerData } from '../data/partner-data.ts';
import type { CompletedAssessment } from '../data/scores.ts';
import type { Session } from '../data/sessions.ts';

export interface WebhookEvent {
  readonly eventType: string;
  readonly timeStamp: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

type NoteEventType = `progress_note_${'generated' | 'regenerated' | 'finalized'}`;

export type EventFactory = ReturnType<typeof createEventFactory>;

/** The events, as the API documents them. */
export function createEventFactory({ ids, notes }: PartnerData, baseUrl: () => string) {
  const urlOf = ({ record }: Session, part: string) =>
    `${baseUrl()}/sessions/${record.sessionId}/${part}`;

  function idsOf(session: Session) {
    const clinic = clinicOfClinician(session.clinician);
    const { sessionId, sessionExternalId, clientId, clinicianId } = session.record;
    return {
      sessionId,
      // Omitted from the JSON if it is undefined.
      sessionExternalId,
      clientId,
      clinicianId,
      clinicId: ids.idOf('clinic', clinic),
      organizationId: ids.idOf('organization', organizationOfClinic(clinic)),
    };
  }

  return {
    /** The ids that all events of a session carry. */
    idsOf,
    note(eventType: NoteEventType, note: Note) {
      const common = idsOf(note.session);
      return event(eventType, {
        ...common,
        progressNoteId: notes.idOf(note),
        progressNoteUrl: urlOf(note.session, 'progress-note'),
        organization: common.organizationId,
      });
    },
    transcriptReady: (session: Session) =>
      event('transcript_ready', { ...idsOf(session), transcriptUrl: urlOf(session, 'transcript') }),
    transcriptError: (session: Session) =>
      event('session_transcript_error', {
        ...idsOf(session),
        error: 'The recording contains no intelligible speech.',
      }),
    mdmIdentified: (session: Session) =>
      event('mdm_elements_identified', {
        ...idsOf(session),
        mdmId: ids.idOf('mdm', session.key),
        mdmUrl: urlOf(session, 'mdm'),
      }),
    assessmentCompleted: (client: number, scores: readonly CompletedAssessment[]) =>
      event('assessment_completed', {
        patientId: ids.idOf('client', client),
        assessmentScores: scores.map(({ id, assessmentId }) => ({
          id,
          assessmentId,
          assessmentScoreUrl: `${baseUrl()}/assessment-scores/${id}`,
        })),
      }),
  };
}

const event = (eventType: string, payload: WebhookEvent['payload']): WebhookEvent => ({
  eventType,
  timeStamp: new Date().toISOString(),
  payload,
});
