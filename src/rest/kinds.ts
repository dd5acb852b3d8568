import type { Uuid } from '../uuid.ts';
import { readMdm, readScore, readTranscript } from './artifacts.ts';
import type { MdmRecord, NotReady, ScoreRecord, TranscriptRecord } from './artifacts.ts';
import type { JsonObject } from './json.ts';
import { readNote, readNoteOfSession } from './notes.ts';
import type { NoteRecord } from './notes.ts';
import { PARTNERS, routes } from './routes.ts';

/** A kind of GET: what its answers mean, and for how long they are right. */
export interface Kind<T> {
  readonly template: string;
  ttlMs(value: T): number;
  /** What a 404 means, for the routes where it is a normal answer. */
  readonly missing?: { readonly value: T };
}

/** A kind of record that has a route of its own. */
export interface RecordKind<T> extends Kind<T> {
  /** Undefined if the body is not what the route promises. `id` is the one in the path. */
  read(body: unknown, id: Uuid): T | undefined;
}

/** Events and mutations drop what they make stale; this bounds what neither of them told us. */
export const LIST_TTL_MS = 5000;
const NOTE_TTL_MS = 5000;
/** A finished artifact does not change. */
const FINISHED_TTL_MS = 10 * 60_000;
/** Somebody is waiting for it. */
const UNFINISHED_TTL_MS = 1000;

const noteTtlMs = (note: NoteRecord | undefined): number =>
  note === undefined || note.isLoading ? UNFINISHED_TTL_MS : NOTE_TTL_MS;

const artifactTtlMs = (artifact: unknown): number =>
  artifact === 'not-ready' || artifact === undefined ? UNFINISHED_TTL_MS : FINISHED_TTL_MS;

export const noteKind: RecordKind<NoteRecord | undefined> = {
  template: routes.note.template,
  read: readNote,
  ttlMs: noteTtlMs,
  missing: { value: undefined },
};

export const noteOfSessionKind: RecordKind<NoteRecord | undefined> = {
  template: routes.noteOfSession.template,
  read: readNoteOfSession,
  ttlMs: noteTtlMs,
  missing: { value: undefined },
};

export const transcriptKind: RecordKind<TranscriptRecord | NotReady> = {
  template: routes.transcript.template,
  read: readTranscript,
  ttlMs: artifactTtlMs,
  missing: { value: 'not-ready' },
};

export const mdmKind: RecordKind<MdmRecord | NotReady> = {
  template: routes.mdm.template,
  read: readMdm,
  ttlMs: artifactTtlMs,
  missing: { value: 'not-ready' },
};

export const scoreKind: RecordKind<ScoreRecord | undefined> = {
  template: routes.score.template,
  read: readScore,
  ttlMs: artifactTtlMs,
  missing: { value: undefined },
};

export const partnerKind: Kind<JsonObject> = {
  template: PARTNERS,
  ttlMs: () => FINISHED_TTL_MS,
};
