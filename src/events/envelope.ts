import type { NewEvent } from '../store/event-log.ts';
import type { AssessmentFacts, EventFacts } from './partner-event.ts';
import {
  type Fields,
  Unreadable,
  assessmentFacts,
  field,
  isEventType,
  isFields,
  sessionFacts,
  toNewEvent,
  uuidIn,
} from './stored-event.ts';

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
  /** An envelope, but of a type or with a payload that is not known: a retry would not help. */
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

  const { occurredAt, credible } = readTimeStamp(field(json, 'timeStamp'), receivedAt);
  try {
    const facts: readonly EventFacts[] =
      type === 'assessment_completed'
        ? factsOfScores(payload, occurredAt)
        : [sessionFacts(type, payload, occurredAt)];
    const events = facts.map((each) => ({
      facts: each,
      entry: toNewEvent(each, receivedAt, credible ? occurredAt : undefined),
    }));
    return { kind: 'events', events, credibleTime: credible };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { kind: 'unknown', reason: `${type}: ${error.message}`, body };
  }
}

/** One event for each score. Its client is `patientId`; any other id in there is not part of the event. */
function factsOfScores(payload: Fields, occurredAt: string): readonly AssessmentFacts[] {
  const clientId = uuidIn(payload, 'patientId');
  const scores = field(payload, 'assessmentScores');
  if (!Array.isArray(scores)) throw new Unreadable('assessmentScores must be an array');
  if (scores.length > MAX_SCORES) throw new Unreadable(`more than ${MAX_SCORES} scores`);
  const byScore = new Map<string, AssessmentFacts>();
  for (const score of scores as readonly unknown[]) {
    if (!isFields(score)) throw new Unreadable('a score must be an object');
    const facts = assessmentFacts(clientId, uuidIn(score, 'id'), score, occurredAt);
    if (!byScore.has(facts.scoreId)) byScore.set(facts.scoreId, facts);
  }
  return [...byScore.values()];
}

/** `timeStamp` is ISO 8601, but not every sender writes a `T`, a zone or its colon. No zone means UTC. */
const ISO =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,12})?)?))?(Z|[+-]\d{2}:?\d{2})?$/i;

/** As `toISOString` writes it, on a day that every month has: then it is what it would be normalised to. */
const NORMAL = /^\d{4}-\d\d-(?:[01]\d|2[0-8])T(?:[01]\d|2[0-3]):\d\d:\d\d\.\d{3}Z$/;

/** Older than the service, so a clock that was never set. */
const EARLIEST_MS = Date.UTC(2000, 0, 1);
/** Two clocks that are kept differ by less than this. */
const LEAD_MS = 5 * 60_000;

interface TimeStamp {
  /** The sender's time, normalised, if it is credible; else the time of receipt. */
  readonly occurredAt: string;
  readonly credible: boolean;
}

function readTimeStamp(value: unknown, receivedAt: number): TimeStamp {
  const text = typeof value === 'string' ? value : '';
  const isNormal = NORMAL.test(text);
  const sentMs = isNormal ? Date.parse(text) : millisecondsOf(text);
  // Not a number compares false with anything.
  const credible = sentMs >= EARLIEST_MS && sentMs <= receivedAt + LEAD_MS;
  if (!credible) return { occurredAt: isoOf(receivedAt), credible };
  return { occurredAt: isNormal ? text : isoOf(sentMs), credible };
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

function millisecondsOf(text: string): number {
  const parts = ISO.exec(text.trim());
  if (parts === null) return Number.NaN;
  const [, date = '', time = '00:00', zone = 'Z'] = parts;
  if (!isInCalendar(date)) return Number.NaN;
  const offset = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase();
  return Date.parse(`${date}T${time}${offset}`);
}

/** To `Date.parse`, the 30th of February is the 2nd of March. */
const isInCalendar = (date: string): boolean =>
  new Date(`${date}T00:00Z`).getUTCDate() === Number(date.slice(-2));
