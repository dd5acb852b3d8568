import { toUuid } from '../uuid.ts';
import type { Uuid } from '../uuid.ts';
import { readMdm, readNote, readNoteOfSession, readScore, readTranscript } from './artifacts.ts';
import type {
  Checked,
  MdmRecord,
  NoteRecord,
  NotReady,
  ScoreRecord,
  TranscriptRecord,
} from './artifacts.ts';
import type { Repeat } from './client/retry.ts';
import { isObject } from './json.ts';
import type { JsonObject } from './json.ts';

/** A route's template, such as `/sessions/:sessionId/mdm`, and the paths built from it. */
export interface Route {
  readonly template: string;
  readonly path: (id: Uuid | undefined) => string;
}

/** What all calls of one route have in common. */
export interface CallKind {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly template: string;
  readonly repeat: Repeat;
  /** Its effect matters: it is not cut off once sent, and an unclear end is reported as one. */
  readonly isWrite: boolean;
  /** All but the call that obtains the token. */
  readonly isAuthorized: boolean;
}

/** A GET: what its answers mean, and for how long they are right. */
export interface Endpoint<T> extends Route {
  readonly get: CallKind;
  /** `page` counts for lists only. */
  read(body: unknown, id: Uuid | undefined, page: number): Checked<T>;
  ttlMs(value: T): number;
  /** What a 404 means, for the routes where it is a normal answer. */
  readonly missing?: { readonly value: T };
  /** Lists only. */
  totalOf?(value: T): number;
  unreadableRowsIn?(value: T): number;
}

/**
 * Nothing but a UUID gets into a path. `encodeURIComponent('..')` is `..`, so encoding alone would let an id
 * climb out of its template.
 */
export function route(template: string): Route {
  const [before = '', after] = template.split(/:\w+/);
  if (after === undefined) return { template, path: () => template };
  return {
    template,
    path(id) {
      const uuid = toUuid(id);
      if (!uuid) throw new TypeError(`${template} wants a UUID, but got something else`);
      return before + uuid + after;
    },
  };
}

export function getRoute(template: string): Route & { readonly get: CallKind } {
  const kind = { template, repeat: 'freely', isWrite: false, isAuthorized: true } as const;
  return { ...route(template), get: { method: 'GET', ...kind } };
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

function record<T>(
  template: string,
  read: (body: unknown, id: Uuid) => Checked<T>,
  ttlMs: (value: T) => number,
  missing: T,
): Endpoint<T> {
  // The path was built first, so there is an id.
  return {
    ...getRoute(template),
    read: (body, id) => id && read(body, id),
    ttlMs,
    missing: { value: missing },
  };
}

/** Records that have a route of their own. */
export const endpoints = {
  note: record<NoteRecord | undefined>(
    '/progress-notes/:progressNoteId',
    readNote,
    noteTtlMs,
    undefined,
  ),
  noteOfSession: record<NoteRecord | undefined>(
    '/sessions/:sessionId/progress-note',
    readNoteOfSession,
    noteTtlMs,
    undefined,
  ),
  transcript: record<TranscriptRecord | NotReady>(
    '/sessions/:sessionId/transcript',
    readTranscript,
    artifactTtlMs,
    'not-ready',
  ),
  mdm: record<MdmRecord | NotReady>(
    '/sessions/:sessionId/mdm',
    readMdm,
    artifactTtlMs,
    'not-ready',
  ),
  score: record<ScoreRecord | undefined>(
    '/assessment-scores/:assessmentScoreId',
    readScore,
    artifactTtlMs,
    undefined,
  ),
  partner: {
    ...getRoute('/partners'),
    read: (body: unknown) => (isObject(body) ? body : undefined),
    ttlMs: () => FINISHED_TTL_MS,
  } satisfies Endpoint<JsonObject>,
};

/** Where single records are cached: what `forget` takes. Lists have `pathOf`. */
export const paths = {
  note: endpoints.note.path,
  noteOfSession: endpoints.noteOfSession.path,
  transcript: endpoints.transcript.path,
  mdm: endpoints.mdm.path,
  score: endpoints.score.path,
};

export const AUTHENTICATE = '/partners/authenticate';
