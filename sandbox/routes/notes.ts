import type { Note } from '../data/notes.ts';
import type { PartnerData } from '../data/partner-data.ts';
import type { Generation } from '../generation.ts';
import { invalid, locked } from '../http/errors.ts';
import type { Routes } from '../http/router.ts';

const MAX_INSTRUCTIONS_LENGTH = 5_000;

/** Reading and changing a note by its id. Checked in this order: not found, not valid, locked. */
export function noteRoutes(data: PartnerData, generation: Generation): Routes {
  const { notes, find, edits } = data;
  const accepted = (note: Note) => ({ progressNoteId: notes.idOf(note), isLoading: true });

  return {
    'GET /progress-notes/:progressNoteId': ({ id }) => notes.record(find.note(id)),
    'PATCH /progress-notes/:progressNoteId'({ id, body }) {
      const note = find.note(id);
      const content = contentIn(body);
      requireUnlocked(note);
      if (content) note.content = content;
      notes.store(note);
      return notes.record(note);
    },
    'POST /progress-notes/:progressNoteId/magic-edit'({ id, body }) {
      const note = find.note(id);
      const userInstructions = instructionsIn(body);
      requireUnlocked(note);
      edits.add(note.session.clinician, id.toLowerCase(), userInstructions);
      generation.rewrite(note, userInstructions);
      return accepted(note);
    },
    'POST /progress-notes/:progressNoteId/regenerate'({ id }) {
      const note = find.note(id);
      requireUnlocked(note);
      generation.rewrite(note);
      return accepted(note);
    },
  };
}

function requireUnlocked(note: Note): void {
  if (note.isFinalized) throw locked();
}

function contentIn(body: unknown): readonly unknown[] | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalid('body must be an object');
  }
  if (!('note' in body)) return undefined;
  if (!Array.isArray(body.note)) throw invalid('note must be an array');
  return body.note;
}

function instructionsIn(body: unknown): string {
  const given = typeof body === 'object' && body !== null ? Object.entries(body) : [];
  const value: unknown = given.find(([name]) => name === 'userInstructions')?.[1];
  if (typeof value !== 'string') throw invalid('userInstructions must be a string');
  const text = value.trim();
  if (text === '') throw invalid('userInstructions should not be empty');
  if (Array.from(text).length > MAX_INSTRUCTIONS_LENGTH) {
    throw invalid(
      `userInstructions must be shorter than or equal to ${MAX_INSTRUCTIONS_LENGTH} characters`,
    );
  }
  return text;
}
