import type { Position } from '../store/event-log.ts';
import type { Uuid } from '../uuid.ts';

export const EVENT_TYPES = [
  'progress_note_generated',
  'progress_note_regenerated',
  'progress_note_finalized',
  'transcript_ready',
  'session_transcript_error',
  'mdm_elements_identified',
  'assessment_completed',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

interface Dated {
  /** The sender's time, as ISO 8601 in UTC; the time of receipt where the sender's is no use. */
  readonly occurredAt: string;
}

/** The ids that six of the seven events share. */
interface OfSession extends Dated {
  readonly sessionId: Uuid;
  /** The partner's own name for the session: opaque, and never a way to find anything. */
  readonly sessionExternalId: string | null;
  readonly clientId: Uuid;
  readonly clinicianId: Uuid;
  readonly clinicId: Uuid;
  readonly organizationId: Uuid;
}

export type SessionFacts = OfSession &
  (
    | {
        readonly type:
          | 'progress_note_generated'
          | 'progress_note_regenerated'
          | 'progress_note_finalized';
        readonly progressNoteId: Uuid;
      }
    | { readonly type: 'transcript_ready' }
    | { readonly type: 'session_transcript_error'; readonly error: string }
    | { readonly type: 'mdm_elements_identified'; readonly mdmId: Uuid | null }
  );

/** One score of one client. The event names no session, clinician, clinic or organization. */
export interface AssessmentFacts extends Dated {
  readonly type: 'assessment_completed';
  readonly clientId: Uuid;
  readonly assessmentId: string;
  readonly scoreId: Uuid;
}

/**
 * What a webhook said, before the log gave it a place. Ids only: a URL of the payload goes no further
 * than the envelope, so nothing behind it can ever fetch or forward one.
 */
export type EventFacts = SessionFacts | AssessmentFacts;

interface Logged {
  readonly position: Position;
  /** Milliseconds since 1970, by the clock of the instance that accepted it. */
  readonly receivedAt: number;
}

export type SessionEvent = SessionFacts & Logged;
export type AssessmentEvent = AssessmentFacts & Logged;
export type PartnerEvent = EventFacts & Logged;
export type ProgressNoteEvent = Extract<SessionEvent, { readonly progressNoteId: Uuid }>;
export type TranscriptReadyEvent = Extract<SessionEvent, { readonly type: 'transcript_ready' }>;
export type TranscriptErrorEvent = Extract<SessionEvent, { readonly error: string }>;
export type MdmEvent = Extract<SessionEvent, { readonly type: 'mdm_elements_identified' }>;

export const isSessionEvent = <T extends EventFacts>(
  event: T,
): event is Exclude<T, { readonly type: 'assessment_completed' }> =>
  event.type !== 'assessment_completed';
