import { toUuid } from '../uuid.ts';
import type { Uuid } from '../uuid.ts';
import { readMdm, readNote, readNoteOfSession, readScore, readTranscript } from './artifacts.ts';
import type { Checked, NoteRecord } from './artifacts.ts';
import type { Repeat } from './client/retry.ts';
import { isObject } from './json.ts';
import type { JsonObject } from './json.ts';

/** What all calls of one route have in common. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Such as `/sessions/:sessionId/mdm`. */
  readonly template: string;
  readonly repeat: Repeat;
  /** Its effect matters: it is not aborted once sent, and an unclear end is reported as one. */
  readonly isWrite: boolean;
  /** All but the request for a token. */
  readonly isAuthorized: boolean;
  readonly path: (id: Uuid | undefined) => string;
}

/** A GET: what its answers mean, and for how long they are valid. */
export interface Endpoint<T> extends Route {
  /** `page` counts for lists only. */
  read(body: unknown, id: Uuid | undefined, page: number): Checked<T>;
  ttlMs(value: T): number;
  /** What a 404 means, for the routes where it is a normal answer. */
  readonly missing?: { readonly value: T };
}

const AUTHENTICATE = '/partners/authenticate';

/**
 * Nothing but a UUID gets into a path. `encodeURIComponent('..')` is `..`, so encoding alone would let an id
 * leave its template.
 */
export function route(method: Route['method'], template: string, repeat: Repeat): Route {
  const [before = '', after] = template.split(/:\w+/);
  const isAuthorized = template !== AUTHENTICATE;
  return {
    method,
    template,
    repeat,
    isAuthorized,
    isWrite: isAuthorized && method !== 'GET',
    path(id) {
      if (after === undefined) return template;
      const uuid = toUuid(id);
      if (!uuid) throw new TypeError(`${template} wants a UUID, but got something else`);
      return before + uuid + after;
    },
  };
}

/** Obtains the partner's token. Repeated freely: a second token does not end the first. */
export const authenticate = route('POST', AUTHENTICATE, 'freely');

/** Events and mutations drop what they make stale; this bounds what neither of them reported. */
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

function record<T, M extends 'not-ready' | undefined>(
  template: string,
  read: (body: unknown, id: Uuid) => Checked<T>,
  ttlMs: (value: T | M) => number,
  missing: M,
): Endpoint<T | M> {
  return {
    ...route('GET', template, 'freely'),
    // The path was built first, so there is an id.
    read: (body, id) => id && read(body, id),
    ttlMs,
    missing: { value: missing },
  };
}

/** Records that have a route of their own. */
export const endpoints = {
  note: record('/progress-notes/:progressNoteId', readNote, noteTtlMs, undefined),
  noteOfSession: record(
    '/sessions/:sessionId/progress-note',
    readNoteOfSession,
    noteTtlMs,
    undefined,
  ),
  transcript: record('/sessions/:sessionId/transcript', readTranscript, artifactTtlMs, 'not-ready'),
  mdm: record('/sessions/:sessionId/mdm', readMdm, artifactTtlMs, 'not-ready'),
  score: record('/assessment-scores/:assessmentScoreId', readScore, artifactTtlMs, undefined),
  partner: {
    ...route('GET', '/partners', 'freely'),
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
