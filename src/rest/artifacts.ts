import { toUuid } from '../uuid.ts';
import type { Uuid } from '../uuid.ts';
import { answersOf, crisisInterventionOf, riskOf, totalScoreOf } from './assumed-names.ts';
import { isObject, objectsOf, textOf } from './json.ts';
import type { JsonObject } from './json.ts';

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

export function readTranscript(body: unknown): TranscriptRecord | NotReady | undefined {
  if (!isObject(body)) return undefined;
  if (!Array.isArray(body['transcriptItems'])) return 'not-ready';
  const items = objectsOf(body['transcriptItems']).map((item) => ({
    startTime: item['startTime'] ?? null,
    endTime: item['endTime'] ?? null,
    speaker: textOf(item['speaker']),
    transcript: textOf(item['transcript']),
  }));
  return { items, raw: body };
}

export function readMdm(body: unknown): MdmRecord | NotReady | undefined {
  if (!isObject(body)) return undefined;
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

export function readScore(body: unknown, asked: Uuid): ScoreRecord | undefined {
  if (!isObject(body)) return undefined;
  const answers = objectsOf(answersOf(body)).map((answer) => ({
    questionKey: textOf(answer['questionKey']),
    questionDisplay: textOf(answer['questionDisplay']),
    answerValue: answer['answerValue'] ?? null,
    answerDisplay: textOf(answer['answerDisplay']),
  }));
  return {
    id: toUuid(body['id']) ?? asked,
    assessmentId: textOf(body['assessmentId']),
    totalScore: totalScoreOf(body),
    answers,
    raw: body,
  };
}
