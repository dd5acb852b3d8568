import { z } from 'zod';

import { isObject } from '../json.ts';
import { toUuid } from '../uuid.ts';
import { EVENT_TYPES, type EventFacts, eventFacts, text, uuid } from './partner-event.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });
const MALFORMED = { kind: 'malformed' } as const;
const KNOWN_TYPES: ReadonlySet<string> = new Set(EVENT_TYPES);

/**
 * `unknown` is an envelope with an unknown type or payload: a retry would not help. The list of `events` is empty for an
 * assessment event without scores, and `sentAt` is the sender's time, if it is credible.
 */
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
  if (!KNOWN_TYPES.has(type)) return unknown('unknown eventType', body);

  const sentAt = readTimeStamp(timeStamp, now);
  const occurredAt = sentAt ?? new Date(receivedAt).toISOString();
  // `organization` is what the API called it before.
  const organizationId = toUuid(payload['organizationId']) ?? payload['organization'];
  const schema = type === 'assessment_completed' ? assessmentEvents : sessionEvents;
  const { data, error } = schema.safeParse({ ...payload, organizationId, type, occurredAt });
  if (!error) return { kind: 'events' as const, events: data, sentAt };
  const [issue] = error.issues;
  return unknown(`${type}: ${issue?.path.join('.')} ${issue?.message}`, body);
}

const unknown = (reason: string, body: string) => ({ kind: 'unknown' as const, reason, body });

const sessionEvents = eventFacts.transform((facts): readonly EventFacts[] => [facts]);

/** One delivery must not fill the log. No client completes this many at once. */
const MAX_SCORES = 500;

const nonEmpty = text(512).refine((id) => id !== '', 'must not be empty');
const score = z.object({ id: uuid, assessmentId: nonEmpty }, 'must be an object');

/** One event for each score. Its client is `patientId`; other ids in the payload are ignored. */
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
  .transform(({ type, occurredAt, patientId: clientId, assessmentScores }) => {
    const byScore = new Map<string, EventFacts>();
    for (const { id: scoreId, assessmentId } of assessmentScores)
      if (!byScore.has(scoreId))
        byScore.set(scoreId, { type, occurredAt, clientId, assessmentId, scoreId });
    return [...byScore.values()];
  });

/** ISO 8601, extended or basic, also with a space for the `T` or without a zone (then UTC). */
const ISO =
  /^(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?)?(?:Z|([+-]\d\d)(?::?(\d\d))?)?$/i;

/** An earlier time comes from a clock that was never set. */
const EARLIEST_MS = Date.UTC(2000, 0, 1);
/** Two clocks that are synchronized differ by less than this. */
const MAX_LEAD_MS = 5 * 60_000;

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
  // NaN compares false with anything.
  const isCredible = isInCalendar && sentMs >= EARLIEST_MS && sentMs <= now + MAX_LEAD_MS;
  return isCredible ? new Date(sentMs).toISOString() : undefined;
}
