import type { NewEvent, StoredEvent } from '../store/event-log.ts';
import { toUuid, type Uuid } from '../uuid.ts';
import { EVENT_TYPES, isSessionEvent } from './partner-event.ts';
import type {
  AssessmentFacts,
  EventFacts,
  EventType,
  PartnerEvent,
  SessionFacts,
} from './partner-event.ts';

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

const KNOWN_TYPES: ReadonlySet<unknown> = new Set(EVENT_TYPES);

export const isEventType = (value: unknown): value is EventType => KNOWN_TYPES.has(value);

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const field = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

export const isUnreadable = (value: object): value is Unreadable => 'problem' in value;

/** Undefined for what is no JSON. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Reads a payload, and just as well what the log kept of one. */
export function sessionFacts(
  type: SessionFacts['type'],
  from: Fields,
  occurredAt: string,
): SessionFacts | Unreadable {
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
  const ids = { sessionId, sessionExternalId, clientId, clinicianId, clinicId, organizationId };
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

/** A cut may halve a surrogate pair, and a lone half is refused by strict readers of UTF-8. */
const capped = (text: string, max: number): string => text.slice(0, max).toWellFormed();

/** A note may keep its id over several regenerations: a `time` not yet accepted for it makes another event of it. */
export function toNewEvent(facts: EventFacts, receivedAt: number, time?: string): NewEvent {
  return {
    key: `${facts.type}:${dedupeId(facts)}`,
    time: facts.type === 'progress_note_regenerated' ? time : undefined,
    receivedAt,
    subject: isSessionEvent(facts) ? sessionSubject(facts.sessionId) : undefined,
    body: JSON.stringify(facts),
    value: facts,
  };
}

export const sessionSubject = (sessionId: string): string => `session:${sessionId}`;

/** The keys that the Partner API documents. */
function dedupeId(facts: EventFacts): string {
  switch (facts.type) {
    case 'progress_note_generated':
    case 'progress_note_regenerated':
    case 'progress_note_finalized':
      return facts.progressNoteId;
    case 'assessment_completed':
      return facts.scoreId;
    default:
      return facts.sessionId;
  }
}

/** Undefined for what another version of this gateway wrote and this one can't read. */
export function fromStored({ position, receivedAt, body, value }: StoredEvent) {
  const facts = (value as EventFacts | undefined) ?? factsOf(parsed(body));
  if (isUnreadable(facts)) return undefined;
  const event: PartnerEvent = { ...facts, position, receivedAt };
  return event;
}

function factsOf(fields: unknown): EventFacts | Unreadable {
  if (!isFields(fields)) return { problem: 'not an object' };
  const type = field(fields, 'type');
  const occurredAt = field(fields, 'occurredAt');
  if (!isEventType(type) || typeof occurredAt !== 'string') return { problem: 'not an event' };
  if (type !== 'assessment_completed') return sessionFacts(type, fields, occurredAt);
  const clientId = toUuid(field(fields, 'clientId'));
  if (clientId === undefined) return { problem: 'clientId must be a UUID' };
  const [scoreId, assessmentId] = [field(fields, 'scoreId'), field(fields, 'assessmentId')];
  return assessmentFacts(clientId, scoreId, assessmentId, occurredAt);
}
