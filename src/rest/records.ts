import { isObject, objectsOf, textOf, type JsonObject } from '../json.ts';
import { toUuid, type Uuid } from '../uuid.ts';
import { answersOf, crisisInterventionOf, riskOf, totalScoreOf } from './assumed-names.ts';
import { CHANGING_TTL_MS, anotherRecord, endpoint, isOther, type Endpoint } from './endpoints.ts';

/** A finished artifact does not change. */
const FINISHED_TTL_MS = 10 * 60_000;
/** Short, since a user may be waiting for it to finish. */
const UNFINISHED_TTL_MS = 1_000;

/** A body that describes an error, in one of the API's two shapes, in place of a record without required fields. */
const isErrorBody = (body: JsonObject): boolean =>
  isObject(body['error']) || (textOf(body['message']) !== null && Object.keys(body).length === 1);

/** The client that the body names, if any, which is not documented. */
const clientIn = (raw: JsonObject): Uuid | null =>
  toUuid(raw['clientId']) ?? toUuid(raw['patientId']) ?? null;

/**
 * A record with a route of its own. `idsIn` are the values in the body that name the record in the path.
 * `readRecord` returns null if the record does not exist yet, and undefined if the body is not what the route promises.
 */
function record<T extends object>(
  template: string,
  finishedTtlMs: number,
  idsIn: (body: JsonObject) => readonly unknown[],
  readRecord: (body: JsonObject, id: Uuid) => T | null | undefined,
): Endpoint<T | null> {
  const read: Endpoint<T | null>['read'] = (body, id) => {
    // The path was built first, so there is an id.
    if (!isObject(body) || !id) return undefined;
    const value = readRecord(body, id);
    if (value === undefined) return undefined;
    return idsIn(body).some((name) => isOther(name, id)) ? anotherRecord : value;
  };
  const ttlMs = (value: T | null): number =>
    !value || ('isLoading' in value && value.isLoading) ? UNFINISHED_TTL_MS : finishedTtlMs;
  return { ...endpoint('GET', template, 3, read, ttlMs), isNullable: true };
}

const sessionIdIn = ({ sessionId }: JsonObject) => [sessionId];

export type NoteRecord = NonNullable<ReturnType<typeof readNote>>;
function readNote(raw: JsonObject, id: Uuid | undefined) {
  const { isLoading, note: given } = raw;
  if (!Array.isArray(given) && typeof isLoading !== 'boolean') return undefined;
  const sections: readonly unknown[] = Array.isArray(given) ? given : [];
  return {
    /** Null while the first generation runs; a regeneration may change it. */
    id: id ?? null,
    isLoading: isLoading === true,
    /** Empty or partial while loading. The elements' shape is not documented. A null would make the whole list null. */
    note: sections.includes(null) ? sections.filter((section) => section !== null) : sections,
    sessionId: toUuid(raw['sessionId']) ?? null,
    clientId: clientIn(raw),
    raw,
  };
}

/** A body without any id is still the note that was requested. */
const note: Endpoint<NoteRecord | null> = {
  ...record(
    '/progress-notes/:progressNoteId',
    CHANGING_TTL_MS,
    ({ progressNoteId, id }) => [toUuid(progressNoteId) ?? id],
    readNote,
  ),
  // No session is documented in the body. Without one, only the template stands for all of a session's notes.
  otherPath: (value) => (value?.sessionId ? noteOfSession.path(value.sessionId) : note.template),
};

/** Its `id` may be of another record, so only `progressNoteId` counts. */
const noteOfSession: Endpoint<NoteRecord | null> = {
  ...record('/sessions/:sessionId/progress-note', CHANGING_TTL_MS, sessionIdIn, (body) =>
    readNote(body, toUuid(body['progressNoteId'])),
  ),
  otherPath: (value) => (value?.id ? note.path(value.id) : noteOfSession.template),
};

/** Ready once the body has the field. Until then the API answers 200 with an error body, and may answer 404 one day. */
const artifact = <T extends object>(
  template: string,
  field: string,
  readArtifact: (items: readonly JsonObject[], body: JsonObject) => T,
) =>
  record(template, FINISHED_TTL_MS, sessionIdIn, (body) =>
    Array.isArray(body[field]) ? readArtifact(objectsOf(body[field]), body) : null,
  );

function readScore(raw: JsonObject, id: Uuid) {
  if (isErrorBody(raw)) return undefined;
  const answers = objectsOf(answersOf(raw)).map((answer) => ({
    questionKey: textOf(answer['questionKey']),
    questionDisplay: textOf(answer['questionDisplay']),
    answerValue: answer['answerValue'] ?? null,
    answerDisplay: textOf(answer['answerDisplay']),
  }));
  return {
    id,
    clientId: clientIn(raw),
    assessmentId: textOf(raw['assessmentId']),
    totalScore: totalScoreOf(raw),
    answers,
    raw,
  };
}

/** An object or a list: what it holds is not documented. */
const readPartner = (body: unknown) =>
  typeof body === 'object' && body && !isErrorBody(body as JsonObject) ? body : undefined;

export const recordEndpoints = {
  note,
  noteOfSession,
  transcript: artifact('/sessions/:sessionId/transcript', 'transcriptItems', (items, raw) => ({
    items: items.map((item) => ({
      // Number or text: the unit is not documented, so both are passed through.
      startTime: item['startTime'] ?? null,
      endTime: item['endTime'] ?? null,
      // Speakers may be numbered: the type is not documented either.
      speaker: typeof item['speaker'] === 'number' ? `${item['speaker']}` : textOf(item['speaker']),
      transcript: textOf(item['transcript']),
    })),
    clientId: clientIn(raw),
    raw,
  })),
  mdm: artifact('/sessions/:sessionId/mdm', 'problemsAddressed', (problems, raw) => ({
    problemsAddressed: problems.map((problem) => ({
      rationale: textOf(problem['rationale']),
      level: textOf(problem['level']),
    })),
    risk: riskOf(raw) ?? null,
    crisisIntervention: crisisInterventionOf(raw),
    clientId: clientIn(raw),
    raw,
  })),
  score: record(
    '/assessment-scores/:assessmentScoreId',
    FINISHED_TTL_MS,
    ({ id, assessmentScoreId }) => [id, assessmentScoreId],
    readScore,
  ),
  partner: endpoint('GET', '/partners', 3, readPartner, () => FINISHED_TTL_MS),
};

type RecordOf<E> = E extends Endpoint<infer T> ? NonNullable<T> : never;
export type TranscriptRecord = RecordOf<typeof recordEndpoints.transcript>;
export type MdmRecord = RecordOf<typeof recordEndpoints.mdm>;
export type ScoreRecord = RecordOf<typeof recordEndpoints.score>;
