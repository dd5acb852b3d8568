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

/** A record that can't be understood. Its message holds field names, never values. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
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

/** `formerName` is what the API called it before. */
export function uuidIn(fields: Fields, name: string, formerName = name): Uuid {
  const uuid = toUuid(field(fields, name)) ?? toUuid(field(fields, formerName));
  if (uuid === undefined) throw new Unreadable(`${name} must be a UUID`);
  return uuid;
}

/** Reads a payload, and just as well what the log kept of one. */
export function sessionFacts(
  type: SessionFacts['type'],
  from: Fields,
  occurredAt: string,
): SessionFacts {
  const externalId = field(from, 'sessionExternalId');
  const shared = {
    sessionId: uuidIn(from, 'sessionId'),
    sessionExternalId: typeof externalId === 'string' ? capped(externalId, MAX_EXTERNAL_ID) : null,
    clientId: uuidIn(from, 'clientId'),
    clinicianId: uuidIn(from, 'clinicianId'),
    clinicId: uuidIn(from, 'clinicId'),
    organizationId: uuidIn(from, 'organizationId', 'organization'),
    occurredAt,
  };
  switch (type) {
    case 'transcript_ready':
      return { ...shared, type };
    case 'session_transcript_error': {
      const error = field(from, 'error');
      if (typeof error !== 'string') throw new Unreadable('error must be a string');
      return { ...shared, type, error: capped(error, MAX_ERROR) };
    }
    case 'mdm_elements_identified':
      return { ...shared, type, mdmId: toUuid(field(from, 'mdmId')) ?? null };
    default:
      return { ...shared, type, progressNoteId: uuidIn(from, 'progressNoteId') };
  }
}

export function assessmentFacts(
  clientId: Uuid,
  scoreId: Uuid,
  from: Fields,
  occurredAt: string,
): AssessmentFacts {
  const assessmentId = field(from, 'assessmentId');
  if (typeof assessmentId !== 'string' || assessmentId === '')
    throw new Unreadable('assessmentId must be a string');
  return {
    type: 'assessment_completed',
    occurredAt,
    clientId,
    assessmentId: capped(assessmentId, MAX_ASSESSMENT_ID),
    scoreId,
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
  };
}

export const sessionSubject = (sessionId: string): string => `session:${sessionId}`;

/** The keys that the Partner API documents. */
function dedupeId(facts: EventFacts): string {
  if ('progressNoteId' in facts) return facts.progressNoteId;
  return isSessionEvent(facts) ? facts.sessionId : facts.scoreId;
}

/** Undefined for what another version of this gateway wrote and this one can't read. */
export function fromStored(stored: StoredEvent): PartnerEvent | undefined {
  const { position, receivedAt, body } = stored;
  try {
    return { ...factsOf(JSON.parse(body)), position, receivedAt };
  } catch {
    return undefined;
  }
}

function factsOf(fields: unknown): EventFacts {
  if (!isFields(fields)) throw new Unreadable('not an object');
  const type = field(fields, 'type');
  const occurredAt = field(fields, 'occurredAt');
  if (!isEventType(type) || typeof occurredAt !== 'string') throw new Unreadable('not an event');
  if (type !== 'assessment_completed') return sessionFacts(type, fields, occurredAt);
  return assessmentFacts(uuidIn(fields, 'clientId'), uuidIn(fields, 'scoreId'), fields, occurredAt);
}
