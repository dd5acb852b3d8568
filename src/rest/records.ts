import { toUuid, type Uuid } from '../uuid.ts';
import { answersOf, crisisInterventionOf, riskOf, totalScoreOf } from './assumed-names.ts';
import { isObject, objectsOf, textOf, type JsonObject } from '../json.ts';

/** An answer names another record than the one that was asked for: it must be neither shown nor cached. */
export const anotherRecord: unique symbol = Symbol('another record');

/** Undefined if the body is not what the endpoint promises. */
export type Checked<T> = T | typeof anotherRecord | undefined;

type RecordReadBy<Read extends (body: never, id: never) => unknown> = Exclude<
  ReturnType<Read>,
  symbol | null | undefined
>;

/** True if the body names a record, and not the one asked for. What is no UUID names nothing. */
export const isOther = (name: unknown, asked: Uuid | undefined): boolean =>
  name !== asked && (toUuid(name) ?? asked) !== asked;

/** A body that describes an error, in one of the API's two shapes, in place of a record without required fields. */
export const isErrorBody = (body: JsonObject): boolean =>
  isObject(body['error']) || (textOf(body['message']) !== null && Object.keys(body).length === 1);

/** The client that the body names, if any, which is not documented. */
const clientIn = (raw: JsonObject): Uuid | null =>
  toUuid(raw['clientId']) ?? toUuid(raw['patientId']) ?? null;

/** The answer of the note's own route. A body without any id is still the note that was asked for. */
export function readNote(body: unknown, asked: Uuid): Checked<NoteRecord> {
  if (!isNote(body)) return undefined;
  const name = toUuid(body['progressNoteId']) ?? toUuid(body['id']);
  return isOther(name, asked) ? anotherRecord : noteOf(body, asked);
}

/** The answer of the session's route. Its `id` may be of another record, so only `progressNoteId` counts. */
export function readNoteOfSession(body: unknown, asked: Uuid): Checked<NoteRecord> {
  if (!isNote(body)) return undefined;
  if (isOther(body['sessionId'], asked)) return anotherRecord;
  return noteOf(body, toUuid(body['progressNoteId']));
}

function isNote(body: unknown): body is JsonObject {
  return isObject(body) && (Array.isArray(body['note']) || typeof body['isLoading'] === 'boolean');
}

export type NoteRecord = ReturnType<typeof noteOf>;
function noteOf(raw: JsonObject, id: Uuid | undefined) {
  const { isLoading, note } = raw;
  const sections: readonly unknown[] = Array.isArray(note) ? note : [];
  return {
    /** Null while the first generation runs; a regeneration may change it. */
    id: id ?? null,
    isLoading: isLoading === true,
    /** Empty or partial while loading. The elements' shape is not documented. A null would make the whole list null. */
    note: sections.filter((section) => section !== null),
    sessionId: toUuid(raw['sessionId']) ?? null,
    clientId: clientIn(raw),
    raw,
  };
}

/**
 * Before an artifact exists the API answers 200 with a body that describes an error, and will answer 404 one day. So
 * the presence of the field shows whether it is ready, not the status. Null if it is not.
 */
export type TranscriptRecord = RecordReadBy<typeof readTranscript>;
export type TranscriptItem = TranscriptRecord['items'][number];
export function readTranscript(body: unknown, sessionId: Uuid) {
  if (!isObject(body)) return undefined;
  if (isOther(body['sessionId'], sessionId)) return anotherRecord;
  if (!Array.isArray(body['transcriptItems'])) return null;
  const items = objectsOf(body['transcriptItems']).map((item) => ({
    // Number or text: the unit is not documented, so both are passed through.
    startTime: item['startTime'] ?? null,
    endTime: item['endTime'] ?? null,
    // Speakers may be numbered: the type is not documented either.
    speaker: typeof item['speaker'] === 'number' ? `${item['speaker']}` : textOf(item['speaker']),
    transcript: textOf(item['transcript']),
  }));
  return { items, clientId: clientIn(body), raw: body };
}

export type MdmRecord = RecordReadBy<typeof readMdm>;
export type ProblemAddressed = MdmRecord['problemsAddressed'][number];
export function readMdm(body: unknown, sessionId: Uuid) {
  if (!isObject(body)) return undefined;
  if (isOther(body['sessionId'], sessionId)) return anotherRecord;
  if (!Array.isArray(body['problemsAddressed'])) return null;
  const problemsAddressed = objectsOf(body['problemsAddressed']).map((problem) => ({
    rationale: textOf(problem['rationale']),
    level: textOf(problem['level']),
  }));
  return {
    problemsAddressed,
    risk: riskOf(body) ?? null,
    crisisIntervention: crisisInterventionOf(body),
    clientId: clientIn(body),
    raw: body,
  };
}

export type ScoreRecord = RecordReadBy<typeof readScore>;
export type ScoreAnswer = ScoreRecord['answers'][number];
export function readScore(body: unknown, asked: Uuid) {
  if (!isObject(body) || isErrorBody(body)) return undefined;
  if (isOther(body['id'], asked) || isOther(body['assessmentScoreId'], asked)) return anotherRecord;
  const answers = objectsOf(answersOf(body)).map((answer) => ({
    questionKey: textOf(answer['questionKey']),
    questionDisplay: textOf(answer['questionDisplay']),
    answerValue: answer['answerValue'] ?? null,
    answerDisplay: textOf(answer['answerDisplay']),
  }));
  return {
    id: asked,
    clientId: clientIn(body),
    assessmentId: textOf(body['assessmentId']),
    totalScore: totalScoreOf(body),
    answers,
    raw: body,
  };
}
