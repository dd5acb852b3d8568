import { invalid, locked } from './errors.ts';
import type { Note } from './notes.ts';
import type { Route } from './router.ts';
import type { Service } from './service.ts';
import type { World } from './world.ts';

const LONGEST_INSTRUCTIONS = 5_000;

/** Reading and changing a note by its id. The order of refusals: not there, not valid, locked. */
export function noteRoutes(world: World, service: Service): readonly Route[] {
  const { notes, owned, edits } = world;
  const accepted = (note: Note) => ({ progressNoteId: notes.idOf(note), isLoading: true });

  return [
    {
      template: 'GET /progress-notes/:progressNoteId',
      handle: ({ id }) => notes.view(owned.note(id)),
    },
    {
      template: 'PATCH /progress-notes/:progressNoteId',
      handle({ id, body }) {
        const note = owned.note(id);
        const content = contentIn(body);
        refuseLocked(note);
        if (content) note.content = content;
        notes.keep(note);
        return notes.view(note);
      },
    },
    {
      template: 'POST /progress-notes/:progressNoteId/magic-edit',
      handle({ id, body }) {
        const note = owned.note(id);
        const userInstructions = instructionsIn(body);
        refuseLocked(note);
        edits.add(note.session.clinician, id.toLowerCase(), userInstructions);
        service.rewrite(note, userInstructions);
        return accepted(note);
      },
    },
    {
      template: 'POST /progress-notes/:progressNoteId/regenerate',
      handle({ id }) {
        const note = owned.note(id);
        refuseLocked(note);
        service.rewrite(note);
        return accepted(note);
      },
    },
  ];
}

function refuseLocked(note: Note): void {
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
  if (Array.from(text).length > LONGEST_INSTRUCTIONS) {
    throw invalid(
      `userInstructions must be shorter than or equal to ${LONGEST_INSTRUCTIONS} characters`,
    );
  }
  return text;
}
