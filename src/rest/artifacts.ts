import { toUuid } from '../uuid.ts';
import type { Uuid } from '../uuid.ts';
import { answersOf, crisisInterventionOf, riskOf, totalScoreOf } from './assumed-names.ts';
import { isObject, objectsOf, textOf } from './json.ts';
import type { JsonObject } from './json.ts';

/** The answer names another record than the one that was asked for: it must be neither shown nor cached. */
export const otherRecord: unique symbol = Symbol('another record');

/** Undefined if the body is not what the endpoint promises. */
export type Checked<T> = T | undefined | typeof otherRecord;

export interface NoteRecord {
  /** Null while the first generation runs; a regeneration may change it. */
  readonly id: Uuid | null;
  readonly isLoading: boolean;
  /** Empty or partial while loading. The elements' shape is not documented. */
  readonly note: readonly unknown[];
  readonly sessionId: Uuid | null;
  readonly raw: JsonObject;
}

export interface TranscriptRecord {
  readonly items: readonly TranscriptItem[];
  readonly raw: JsonObject;
}

export interface TranscriptItem {
  /** Number or text: the unit is not documented, so both are passed through. */
  readonly startTime: unknown;
  readonly endTime: unknown;
  readonly speaker: string | null;
  readonly transcript: string | null;
}

export interface MdmRecord {
  readonly problemsAddressed: readonly ProblemAddressed[];
  readonly risk: unknown;
  readonly crisisIntervention: boolean | null;
  readonly raw: JsonObject;
}

export interface ProblemAddressed {
  readonly rationale: string | null;
  readonly level: string | null;
}

export interface ScoreRecord {
  readonly id: Uuid;
  /** Whose it is, where the body says so: it is not documented to. */
  readonly clientId: Uuid | null;
  readonly assessmentId: string | null;
  readonly totalScore: number | null;
  readonly answers: readonly ScoreAnswer[];
  readonly raw: JsonObject;
}

export interface ScoreAnswer {
  readonly questionKey: string | null;
  readonly questionDisplay: string | null;
  readonly answerValue: unknown;
  readonly answerDisplay: string | null;
}

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
  return isOther(named, asked) ? otherRecord : noteOf(body, asked, toUuid(body['sessionId']));
}

/** The answer of the session's route: an `id` in it could be anybody's, so only `progressNoteId` counts. */
export function readNoteOfSession(body: unknown, asked: Uuid): Checked<NoteRecord> {
  if (!isNote(body)) return undefined;
  if (isOther(body['sessionId'], asked)) return otherRecord;
  return noteOf(body, toUuid(body['progressNoteId']), toUuid(body['sessionId']));
}

function isNote(body: unknown): body is JsonObject {
  return isObject(body) && (Array.isArray(body['note']) || typeof body['isLoading'] === 'boolean');
}

function noteOf(raw: JsonObject, id: Uuid | undefined, sessionId: Uuid | undefined): NoteRecord {
  const { isLoading, note } = raw;
  return {
    id: id ?? null,
    isLoading: isLoading === true,
    note: Array.isArray(note) ? sectionsOf(note) : [],
    sessionId: sessionId ?? null,
    raw,
  };
}

/** A section that is null says nothing, and would take all the others with it; `raw` has it. */
const sectionsOf = (note: readonly unknown[]): readonly unknown[] =>
  note.includes(null) ? note.filter((section) => section !== null) : note;

export function readTranscript(
  body: unknown,
  sessionId: Uuid,
): Checked<TranscriptRecord | NotReady> {
  if (!isObject(body)) return undefined;
  if (isOther(body['sessionId'], sessionId)) return otherRecord;
  if (!Array.isArray(body['transcriptItems'])) return 'not-ready';
  const items = objectsOf(body['transcriptItems']).map((item) => ({
    startTime: item['startTime'] ?? null,
    endTime: item['endTime'] ?? null,
    speaker: textOf(item['speaker']),
    transcript: textOf(item['transcript']),
  }));
  return { items, raw: body };
}

export function readMdm(body: unknown, sessionId: Uuid): Checked<MdmRecord | NotReady> {
  if (!isObject(body)) return undefined;
  if (isOther(body['sessionId'], sessionId)) return otherRecord;
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

export function readScore(body: unknown, asked: Uuid): Checked<ScoreRecord> {
  if (!isObject(body)) return undefined;
  if (isOther(body['id'], asked)) return otherRecord;
  const answers = objectsOf(answersOf(body)).map((answer) => ({
    questionKey: textOf(answer['questionKey']),
    questionDisplay: textOf(answer['questionDisplay']),
    answerValue: answer['answerValue'] ?? null,
    answerDisplay: textOf(answer['answerDisplay']),
  }));
  return {
    id: asked,
    clientId: toUuid(body['clientId']) ?? toUuid(body['patientId']) ?? null,
    assessmentId: textOf(body['assessmentId']),
    totalScore: totalScoreOf(body),
    answers,
    raw: body,
  };
}
