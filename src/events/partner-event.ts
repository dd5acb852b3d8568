import { z } from 'zod';

import { isObject } from '../json.ts';
import type { NewEvent, StoredEvent } from '../store/store.ts';
import { failedMark, lockedMark } from '../store/marks.ts';
import { toUuid, type Uuid } from '../uuid.ts';

/** Messages name the expected type and never the value: they are logged. */
const uuid = z.preprocess(toUuid, z.custom<Uuid>(Boolean, 'must be a UUID'));

/** The API does not bound its free text. Truncating may split a surrogate pair, which strict UTF-8 readers reject. */
const text = (max: number) =>
  z.string('must be a string').transform((value) => value.slice(0, max).toWellFormed());

/** The ids that all events of a session share. */
const ofSession = z.object({
  /** The sender's time as ISO 8601 in UTC, or the time of receipt if the sender's is not usable. */
  occurredAt: z.string(),
  sessionId: uuid,
  /** The partner's own name for the session. It is opaque and is never used for look-ups. */
  sessionExternalId: text(512).nullable().catch(null),
  clientId: uuid,
  clinicianId: uuid,
  clinicId: uuid,
  organizationId: uuid,
});

/** The facts of an event, as the log has them. URLs in the payload are dropped, so nothing can fetch or forward one. */
const eventFacts = z.discriminatedUnion('type', [
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
    occurredAt: z.string(),
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
export const EVENT_TYPES = eventFacts.options.flatMap(({ shape }) => [...shape.type.values]);

const utf8 = new TextDecoder('utf-8', { fatal: true });
const MALFORMED = { kind: 'malformed' } as const;

/** `unknown`: the type or payload is not understood, and a retry would not help. Without scores, `events` is empty. */
export function readEnvelope(bytes: Uint8Array, receivedAt: number, now = receivedAt) {
  let body: string;
  let json: unknown;
  try {
    body = utf8.decode(bytes);
    json = JSON.parse(body);
  } catch {
    return MALFORMED;
  }
  if (!isObject(json)) return MALFORMED;
  const { eventType: type, payload, timeStamp } = json;
  if (typeof type !== 'string' || !isObject(payload)) return MALFORMED;
  if (!EVENT_TYPES.some((known) => known === type)) return asUnknown('unknown eventType', body);

  const sentAt = readTimeStamp(timeStamp, now);
  const occurredAt = sentAt ?? new Date(receivedAt).toISOString();
  // `organization` is what the API called it before.
  const organizationId = toUuid(payload['organizationId']) ?? payload['organization'];
  const schema = type === 'assessment_completed' ? assessmentEvents : sessionEvents;
  const { data, error } = schema.safeParse({ ...payload, organizationId, type, occurredAt });
  if (!error) return { kind: 'events' as const, events: data, sentAt };
  const [issue] = error.issues;
  return asUnknown(`${type}: ${issue?.path.join('.')} ${issue?.message}`, body);
}

const asUnknown = (reason: string, body: string) => ({ kind: 'unknown' as const, reason, body });

const sessionEvents = eventFacts.transform((facts): readonly EventFacts[] => [facts]);

/** One delivery must not fill the log. No client completes this many at once. */
const MAX_SCORES = 500;

const nonEmpty = text(512).refine((id) => id !== '', 'must not be empty');
const score = z.object({ id: uuid, assessmentId: nonEmpty }, 'must be an object');

/** One event for each score; the log omits copies. Its client is `patientId`; other ids in the payload are ignored. */
const assessmentEvents = z
  .object({
    type: z.literal('assessment_completed'),
    occurredAt: z.string(),
    patientId: uuid,
    assessmentScores: z
      .array(z.unknown(), 'must be an array')
      .max(MAX_SCORES, `must hold at most ${MAX_SCORES}`)
      .pipe(z.array(score)),
  })
  .transform(({ assessmentScores, patientId: clientId, ...event }): readonly EventFacts[] =>
    assessmentScores.map(({ id: scoreId, ...rest }) => ({ ...event, ...rest, clientId, scoreId })),
  );

/** ISO 8601, extended or basic, also with a space for the `T` or without a zone (then UTC). */
const ISO =
  /^(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?)?(?:Z|([+-]\d\d)(?::?(\d\d))?)?$/i;

/** The sender's time, normalised, if it is credible. */
function readTimeStamp(value: unknown, now: number): string | undefined {
  const parts = typeof value === 'string' && ISO.exec(value.trim());
  if (!parts) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '0'] = parts;
  const [offsetHour = '+00', offsetMinute = '00'] = parts.slice(8);
  const date = `${year}-${month}-${day}`;
  const time = `${hour}:${minute}:${second}.${fraction}`;
  const sentMs = Date.parse(`${date}T${time}${offsetHour}:${offsetMinute}`);
  // To `Date.parse`, the 30th of February is the 2nd of March.
  const isInCalendar = new Date(`${date}T00:00Z`).getUTCDate() === Number(day);
  // An earlier time comes from a clock that was never set, and two clocks that are synchronized differ by less than
  // five minutes. NaN compares false with anything.
  const isCredible = isInCalendar && sentMs >= Date.UTC(2000, 0, 1) && sentMs <= now + 5 * 60_000;
  return isCredible ? new Date(sentMs).toISOString() : undefined;
}

/** A note may keep its id over several regenerations, so its events are told apart by the sender's time. */
export const toNewEvent = (facts: EventFacts, receivedAt: number, time?: string): NewEvent => ({
  key: `${facts.type}:${dedupeId(facts)}`,
  time: facts.type === 'progress_note_regenerated' ? time : undefined,
  receivedAt,
  subject: 'sessionId' in facts ? sessionSubject(facts.sessionId) : undefined,
  mark: markOf(facts),
  body: JSON.stringify(facts),
});

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
