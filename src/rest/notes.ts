import { toUuid } from '../uuid.ts';
import type { Uuid } from '../uuid.ts';
import { isObject } from './json.ts';
import type { JsonObject } from './json.ts';

export interface NoteRecord {
  /** Null while the first generation runs; a regeneration may change it. */
  readonly id: Uuid | null;
  readonly isLoading: boolean;
  /** Empty or partial while loading. The elements' shape is not documented. */
  readonly note: readonly unknown[];
  readonly sessionId: Uuid | null;
  readonly raw: JsonObject;
  /**
   * The session that it was last met under, or `nobody`: what follows from that is done once for all who read it. A
   * field, since weak maps of records that come and go by the thousand cost the collector more than all else here.
   */
  metUnder: Uuid | 'nobody' | undefined;
}

/** The answer of the session's route: an `id` in it could be anybody's, so only `progressNoteId` counts. */
export function readNoteOfSession(body: unknown): NoteRecord | undefined {
  return isNote(body) ? noteOf(body, toUuid(body['progressNoteId'])) : undefined;
}

/** The answer of the note's own route, where a body without any id is still the note that was asked for. */
export function readNote(body: unknown, asked: Uuid): NoteRecord | undefined {
  if (!isNote(body)) return undefined;
  return noteOf(body, toUuid(body['progressNoteId']) ?? toUuid(body['id']) ?? asked);
}

function isNote(body: unknown): body is JsonObject {
  return isObject(body) && (Array.isArray(body['note']) || typeof body['isLoading'] === 'boolean');
}

function noteOf(raw: JsonObject, id: Uuid | undefined): NoteRecord {
  const note = raw['note'];
  return {
    id: id ?? null,
    isLoading: raw['isLoading'] === true,
    // A section that is null says nothing, and would take all the others with it; `raw` has it.
    note: Array.isArray(note) ? note.filter((section) => section !== null) : [],
    sessionId: toUuid(raw['sessionId']) ?? null,
    raw,
    metUnder: undefined,
  };
}
