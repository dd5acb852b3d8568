import { toUuid } from '../uuid.ts';
import type { Uuid } from '../uuid.ts';
import { answersOf, crisisInterventionOf, riskOf, totalScoreOf } from './assumed-names.ts';
import { isObject, objectsOf, textOf } from './json.ts';
import type { JsonObject } from './json.ts';

/**
 * Undefined if the body is not what the endpoint promises. `another-record`: it names another record than the one that
 * was asked for, and must be neither shown nor cached.
 */
export type Checked<T> = T | 'another-record' | undefined;

/**
 * Before an artifact exists the API answers 200 with a body that describes an error, and will answer 404 one
 * day. So what tells is the presence of the field, not the status.
 */
export type NotReady = 'not-ready';

/** True if the body names a record, and not the one asked for. What is no UUID names nothing. */
const isOther = (named: unknown, asked: Uuid): boolean =>
  named !== asked && (toUuid(named) ?? asked) !== asked;

/** The answer of the note's own route. A body without any id is still the note that was asked for. */
export function readNote(body: unknown, asked: Uuid): Checked<NoteRecord> {
  if (!isNote(body)) return undefined;
  const named = toUuid(body['progressNoteId']) ?? toUuid(body['id']);
  return isOther(named, asked) ? 'another-record' : noteOf(body, asked, toUuid(body['sessionId']));
}

/** The answer of the session's route: an `id` in it could be anybody's, so only `progressNoteId` counts. */
export function readNoteOfSession(body: unknown, asked: Uuid): Checked<NoteRecord> {
  if (!isNote(body)) return undefined;
  if (isOther(body['sessionId'], asked)) return 'another-record';
  return noteOf(body, toUuid(body['progressNoteId']), toUuid(body['sessionId']));
}

function isNote(body: unknown): body is JsonObject {
  return isObject(body) && (Array.isArray(body['note']) || typeof body['isLoading'] === 'boolean');
}

export type NoteRecord = ReturnType<typeof noteOf>;
function noteOf(raw: JsonObject, id: Uuid | undefined, sessionId: Uuid | undefined) {
  const { isLoading, note } = raw;
  return {
    /** Null while the first generation runs; a regeneration may change it. */
    id: id ?? null,
    isLoading: isLoading === true,
    /** Empty or partial while loading. The elements' shape is not documented. */
    note: Array.isArray(note) ? sectionsOf(note) : [],
    sessionId: sessionId ?? null,
    raw,
  };
}

/** A section that is null says nothing, and would take all the others with it; `raw` has it. */
const sectionsOf = (note: readonly unknown[]): readonly unknown[] =>
  note.includes(null) ? note.filter((section) => section !== null) : note;

type RecordOf<Read extends (body: unknown, id: Uuid) => unknown> = Exclude<
  ReturnType<Read>,
  string | undefined
>;

export type TranscriptRecord = RecordOf<typeof readTranscript>;
export type TranscriptItem = TranscriptRecord['items'][number];
export function readTranscript(body: unknown, sessionId: Uuid) {
  if (!isObject(body)) return undefined;
  if (isOther(body['sessionId'], sessionId)) return 'another-record';
  if (!Array.isArray(body['transcriptItems'])) return 'not-ready';
  const items = objectsOf(body['transcriptItems']).map((item) => ({
    // Number or text: the unit is not documented, so both are passed through.
    startTime: item['startTime'] ?? null,
    endTime: item['endTime'] ?? null,
    speaker: textOf(item['speaker']),
    transcript: textOf(item['transcript']),
  }));
  return { items, raw: body };
}

export type MdmRecord = RecordOf<typeof readMdm>;
export type ProblemAddressed = MdmRecord['problemsAddressed'][number];
export function readMdm(body: unknown, sessionId: Uuid) {
  if (!isObject(body)) return undefined;
  if (isOther(body['sessionId'], sessionId)) return 'another-record';
  if (!Array.isArray(body['problemsAddressed'])) return 'not-ready';
  const problemsAddressed = objectsOf(body['problemsAddressed']).map((problem) => ({
    rationale: textOf(problem['rationale']),
    level: textOf(problem['level']),
  }));
  return {
    problemsAddressed,
    risk: riskOf(body) ?? null,
    crisisIntervention: crisisInterventionOf(body),
    raw: body,
  };
}

export type ScoreRecord = RecordOf<typeof readScore>;
export type ScoreAnswer = ScoreRecord['answers'][number];
export function readScore(body: unknown, asked: Uuid) {
  if (!isObject(body)) return undefined;
  if (isOther(body['id'], asked)) return 'another-record';
  const answers = objectsOf(answersOf(body)).map((answer) => ({
    questionKey: textOf(answer['questionKey']),
    questionDisplay: textOf(answer['questionDisplay']),
    answerValue: answer['answerValue'] ?? null,
    answerDisplay: textOf(answer['answerDisplay']),
  }));
  return {
    id: asked,
    /** Whose it is, where the body says so: it is not documented to. */
    clientId: toUuid(body['clientId']) ?? toUuid(body['patientId']) ?? null,
    assessmentId: textOf(body['assessmentId']),
    totalScore: totalScoreOf(body),
    answers,
    raw: body,
  };
}
