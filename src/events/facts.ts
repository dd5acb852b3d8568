import { toUuid, type Uuid } from '../uuid.ts';
import type { AssessmentFacts, EventType, SessionFacts, SessionIds } from './partner-event.ts';

/** Whatever JSON held. Only own fields are read, so a name like `__proto__` means nothing. */
export type Fields = Readonly<Record<string, unknown>>;

/** A record that can't be understood, and why: field names, never values. */
export interface Unreadable {
  readonly problem: string;
}

/** The API bounds none of its free text. */
const MAX_EXTERNAL_ID = 512;
const MAX_ASSESSMENT_ID = 512;
const MAX_ERROR = 4_096;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const field = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

export const isUnreadable = (value: object): value is Unreadable => 'problem' in value;

export type SessionEventType = Exclude<EventType, 'assessment_completed'>;

/** Reads a payload, and just as well what the log kept of one. The ids go first: copying them is cheapest so. */
export function sessionFacts(
  type: SessionEventType,
  from: Fields,
  occurredAt: string,
): SessionFacts | Unreadable {
  const ids = sessionIds(from);
  if (isUnreadable(ids)) return ids;
  switch (type) {
    case 'transcript_ready':
      return { ...ids, type, occurredAt };
    case 'session_transcript_error': {
      const error = field(from, 'error');
      if (typeof error !== 'string') return { problem: 'error must be a string' };
      return { ...ids, type, occurredAt, error: capped(error, MAX_ERROR) };
    }
    case 'mdm_elements_identified':
      return { ...ids, type, occurredAt, mdmId: toUuid(field(from, 'mdmId')) ?? null };
    default: {
      const progressNoteId = toUuid(field(from, 'progressNoteId'));
      if (progressNoteId === undefined) return { problem: 'progressNoteId must be a UUID' };
      return { ...ids, type, occurredAt, progressNoteId };
    }
  }
}

export function assessmentFacts(
  clientId: Uuid,
  scoreId: unknown,
  assessmentId: unknown,
  occurredAt: string,
): AssessmentFacts | Unreadable {
  const score = toUuid(scoreId);
  if (score === undefined) return { problem: 'the id of a score must be a UUID' };
  if (typeof assessmentId !== 'string' || assessmentId === '') {
    return { problem: 'assessmentId must be a string' };
  }
  return {
    type: 'assessment_completed',
    occurredAt,
    clientId,
    assessmentId: capped(assessmentId, MAX_ASSESSMENT_ID),
    scoreId: score,
  };
}

function sessionIds(from: Fields): SessionIds | Unreadable {
  const sessionId = toUuid(field(from, 'sessionId'));
  const clientId = toUuid(field(from, 'clientId'));
  const clinicianId = toUuid(field(from, 'clinicianId'));
  const clinicId = toUuid(field(from, 'clinicId'));
  // `organization` is the deprecated duplicate of `organizationId` in the events of a note.
  const organizationId =
    toUuid(field(from, 'organizationId')) ?? toUuid(field(from, 'organization'));
  if (sessionId === undefined) return { problem: 'sessionId must be a UUID' };
  if (clientId === undefined) return { problem: 'clientId must be a UUID' };
  if (clinicianId === undefined) return { problem: 'clinicianId must be a UUID' };
  if (clinicId === undefined) return { problem: 'clinicId must be a UUID' };
  if (organizationId === undefined) return { problem: 'organizationId must be a UUID' };
  const externalId = field(from, 'sessionExternalId');
  const sessionExternalId =
    typeof externalId === 'string' ? capped(externalId, MAX_EXTERNAL_ID) : null;
  return { sessionId, sessionExternalId, clientId, clinicianId, clinicId, organizationId };
}

/** A cut may halve a surrogate pair, and a lone half is refused by strict readers of UTF-8. */
const capped = (text: string, max: number): string => text.slice(0, max).toWellFormed();
