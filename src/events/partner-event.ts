import { z } from 'zod';

import type { NewEvent, StoredEvent } from '../store/store.ts';
import { failedMark, lockedMark } from '../store/marks.ts';
import { toUuid, type Uuid } from '../uuid.ts';

/** Messages name the expected type and never the value: they are logged. */
export const uuid = z.unknown().transform((value, { addIssue }): Uuid => {
  const id = toUuid(value);
  if (id) return id;
  addIssue('must be a UUID');
  return z.NEVER;
});

/** The API does not bound its free text. Truncating may split a surrogate pair, which strict UTF-8 readers reject. */
export const text = (max: number) =>
  z.string('must be a string').transform((value) => value.slice(0, max).toWellFormed());

/** The sender's time as ISO 8601 in UTC, or the time of receipt if the sender's is not usable. */
const occurredAt = z.string();

/** The ids that all events of a session share. */
const ofSession = z.object({
  occurredAt,
  sessionId: uuid,
  /** The partner's own name for the session. It is opaque and is never used for look-ups. */
  sessionExternalId: text(512).nullable().catch(null),
  clientId: uuid,
  clinicianId: uuid,
  clinicId: uuid,
  organizationId: uuid,
});

/** The facts of an event, as the log has them. URLs in the payload are dropped, so nothing can fetch or forward one. */
export const eventFacts = z.discriminatedUnion('type', [
  ofSession.extend({
    type: z.literal([
      'progress_note_generated',
      'progress_note_regenerated',
      'progress_note_finalized',
    ]),
    progressNoteId: uuid,
  }),
  ofSession.extend({ type: z.literal('transcript_ready') }),
  // Without a text the failure still counts.
  ofSession.extend({ type: z.literal('session_transcript_error'), error: text(4_096).catch('') }),
  ofSession.extend({
    type: z.literal('mdm_elements_identified'),
    mdmId: uuid.nullable().catch(null),
  }),
  // One score of one client. The event names no session, clinician, clinic or organization.
  z.object({
    type: z.literal('assessment_completed'),
    occurredAt,
    clientId: uuid,
    assessmentId: z.string(),
    scoreId: uuid,
  }),
]);

export type EventFacts = Readonly<z.infer<typeof eventFacts>>;
export type PartnerEvent = EventFacts & Omit<StoredEvent, 'body'>;
export type SessionEvent = Extract<PartnerEvent, { readonly sessionId: Uuid }>;
export type ProgressNoteEvent = Extract<SessionEvent, { readonly progressNoteId: Uuid }>;

export type EventType = EventFacts['type'];
export const EVENT_TYPES: readonly EventType[] = eventFacts.options.flatMap(({ shape }) => [
  ...shape.type.values,
]);

/** A note may keep its id over several regenerations, so its events are told apart by the sender's time. */
export function toNewEvent(facts: EventFacts, receivedAt: number, time?: string): NewEvent {
  return {
    key: `${facts.type}:${dedupeId(facts)}`,
    time: facts.type === 'progress_note_regenerated' ? time : undefined,
    receivedAt,
    subject: 'sessionId' in facts ? sessionSubject(facts.sessionId) : undefined,
    mark: markOf(facts),
    body: JSON.stringify(facts),
  };
}

function markOf(facts: EventFacts): string | undefined {
  if (facts.type === 'progress_note_finalized') return lockedMark(facts.progressNoteId);
  if (facts.type === 'session_transcript_error') return failedMark(facts.sessionId);
  return undefined;
}

export const sessionSubject = (sessionId: string): string => `session:${sessionId}`;

/** The keys that the Partner API documents. */
function dedupeId(facts: EventFacts): string {
  if ('progressNoteId' in facts) return facts.progressNoteId;
  return 'sessionId' in facts ? facts.sessionId : facts.scoreId;
}

/** Undefined if another version of this gateway wrote an event that this one can't read. */
export function fromStored({ position, receivedAt, body }: StoredEvent): PartnerEvent | undefined {
  try {
    return { ...eventFacts.parse(JSON.parse(body)), position, receivedAt };
  } catch {
    return undefined;
  }
}
