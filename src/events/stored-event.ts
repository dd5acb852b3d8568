import type { NewEvent, StoredEvent } from '../store/event-log.ts';
import { toUuid } from '../uuid.ts';
import { assessmentFacts, field, isFields, isUnreadable, sessionFacts } from './facts.ts';
import type { Fields, Unreadable } from './facts.ts';
import { EVENT_TYPES, isSessionEvent } from './partner-event.ts';
import type { EventFacts, EventType, PartnerEvent } from './partner-event.ts';

const KNOWN: ReadonlySet<unknown> = new Set(EVENT_TYPES);

export const isEventType = (value: unknown): value is EventType => KNOWN.has(value);

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

/**
 * What was appended here was read at the door already, and followers of the log get the very same event. The last ones
 * only, each in the place of an older one.
 */
const atTheDoor: { readonly stored: StoredEvent; readonly event: PartnerEvent }[] = [];
const MOST_AT_THE_DOOR = 1_024;

export function toPartnerEvent(facts: EventFacts, stored: StoredEvent): PartnerEvent {
  const event = { ...facts, position: stored.position, receivedAt: stored.receivedAt };
  atTheDoor[stored.position % MOST_AT_THE_DOOR] = { stored, event };
  return event;
}

/** Undefined for what another version of this gateway wrote and this one can't read. */
export function fromStored(stored: StoredEvent): PartnerEvent | undefined {
  const known = atTheDoor[stored.position % MOST_AT_THE_DOOR];
  return known?.stored === stored ? known.event : read(stored);
}

function read(stored: StoredEvent): PartnerEvent | undefined {
  const fields = parsed(stored.body);
  if (!isFields(fields)) return undefined;
  const facts = factsOf(fields);
  if (isUnreadable(facts)) return undefined;
  return { ...facts, position: stored.position, receivedAt: stored.receivedAt };
}

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

function factsOf(fields: Fields): EventFacts | Unreadable {
  const type = field(fields, 'type');
  const occurredAt = field(fields, 'occurredAt');
  if (!isEventType(type) || typeof occurredAt !== 'string') return { problem: 'not an event' };
  if (type !== 'assessment_completed') return sessionFacts(type, fields, occurredAt);
  const clientId = toUuid(field(fields, 'clientId'));
  if (clientId === undefined) return { problem: 'clientId must be a UUID' };
  return assessmentFacts(
    clientId,
    field(fields, 'scoreId'),
    field(fields, 'assessmentId'),
    occurredAt,
  );
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
