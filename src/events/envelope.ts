import type { NewEvent } from '../store/event-log.ts';
import { toUuid } from '../uuid.ts';
import { assessmentFacts, field, isFields, isUnreadable, sessionFacts } from './facts.ts';
import type { Fields, Unreadable } from './facts.ts';
import type { AssessmentFacts, EventFacts, EventType } from './partner-event.ts';
import { isEventType, toNewEvent } from './stored-event.ts';
import { readTimeStamp } from './time-stamp.ts';

/** No client completes this many at once; more would be one delivery that fills the log. */
const MAX_SCORES = 500;

export interface ParsedEvent {
  readonly facts: EventFacts;
  readonly entry: NewEvent;
}

export type Envelope =
  /** Understood. None at all for an assessment event without scores. */
  | {
      readonly kind: 'events';
      readonly events: readonly ParsedEvent[];
      readonly credibleTime: boolean;
    }
  /** An envelope, but of a type or with a payload that is not known: the sender can't mend that. */
  | { readonly kind: 'unknown'; readonly reason: string; readonly body: string }
  | { readonly kind: 'malformed' };

const utf8 = new TextDecoder('utf-8', { fatal: true });
const MALFORMED: Envelope = { kind: 'malformed' };

export function readEnvelope(bytes: Uint8Array, receivedAt: number): Envelope {
  let body: string;
  let json: unknown;
  try {
    body = utf8.decode(bytes);
    json = JSON.parse(body);
  } catch {
    return MALFORMED;
  }
  if (!isFields(json)) return MALFORMED;
  const type = field(json, 'eventType');
  const payload = field(json, 'payload');
  if (typeof type !== 'string' || !isFields(payload)) return MALFORMED;
  if (!isEventType(type)) return { kind: 'unknown', reason: 'unknown eventType', body };

  const time = readTimeStamp(field(json, 'timeStamp'), receivedAt);
  const facts = factsOfPayload(type, payload, time.occurredAt);
  if (isUnreadable(facts)) {
    return { kind: 'unknown', reason: `${type}: ${facts.problem}`, body };
  }
  const events = facts.map((each) => ({
    facts: each,
    entry: toNewEvent(each, receivedAt, time.credible ? time.occurredAt : undefined),
  }));
  return { kind: 'events', events, credibleTime: time.credible };
}

function factsOfPayload(
  type: EventType,
  payload: Fields,
  occurredAt: string,
): readonly EventFacts[] | Unreadable {
  if (type === 'assessment_completed') return factsOfScores(payload, occurredAt);
  const facts = sessionFacts(type, payload, occurredAt);
  return isUnreadable(facts) ? facts : [facts];
}

/** One event for each score. Its client is `patientId`; any other id in there is not part of the event. */
function factsOfScores(
  payload: Fields,
  occurredAt: string,
): readonly AssessmentFacts[] | Unreadable {
  const clientId = toUuid(field(payload, 'patientId'));
  const scores = field(payload, 'assessmentScores');
  if (clientId === undefined) return { problem: 'patientId must be a UUID' };
  if (!Array.isArray(scores)) return { problem: 'assessmentScores must be an array' };
  if (scores.length > MAX_SCORES) return { problem: `more than ${MAX_SCORES} scores` };
  const byScore = new Map<string, AssessmentFacts>();
  for (const score of scores as readonly unknown[]) {
    if (!isFields(score)) return { problem: 'a score must be an object' };
    const facts = assessmentFacts(
      clientId,
      field(score, 'id'),
      field(score, 'assessmentId'),
      occurredAt,
    );
    if (isUnreadable(facts)) return facts;
    if (!byScore.has(facts.scoreId)) byScore.set(facts.scoreId, facts);
  }
  return [...byScore.values()];
}
