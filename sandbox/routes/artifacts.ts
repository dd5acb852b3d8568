import type { Switches } from '../control/switches.ts';
import type { Note } from '../data/notes.ts';
import type { PartnerData } from '../data/partner-data.ts';
import type { Generation } from '../generation.ts';
import { invalid, notFound, PartnerApiFailure } from '../http/errors.ts';
import type { Routes } from '../http/router.ts';
import { mdmText, transcriptText } from '../text/session-text.ts';

/** Notes, transcripts, MDM and scores. A change is checked in this order: not found, invalid, locked. */
export function artifactRoutes(
  { seed, ids, notes, find, edits, scores }: PartnerData,
  generation: Generation,
  switches: Readonly<Switches>,
): Routes {
  const accepted = (note: Note) => ({ progressNoteId: notes.idOf(note), isLoading: true });

  /** A known defect of the API: a missing transcript or MDM is a 200 whose body describes the error. */
  function notReady(noun: string) {
    if (switches.notReadyAs404) throw notFound(noun);
    return { error: `${noun} not found`, statusCode: 404, message: `No ${noun} for this session` };
  }

  return {
    'GET /sessions/:sessionId/progress-note'({ id }) {
      const note = notes.ofSession(find.session(id));
      if (!note) throw notFound('Progress note');
      return notes.record(note);
    },
    'GET /sessions/:sessionId/transcript'({ id }) {
      const session = find.session(id);
      if (session.transcript !== 'ready') return notReady('Transcript');
      return {
        sessionId: session.record.sessionId,
        transcriptItems: transcriptText(seed, session),
      };
    },
    'GET /sessions/:sessionId/mdm'({ id }) {
      const session = find.session(id);
      return session.hasMdm ? mdmText(seed, ids, session) : notReady('MDM');
    },
    'GET /assessment-scores/:id'({ id }) {
      const score = scores.find(id);
      if (!score) throw notFound('Assessment score');
      return score;
    },
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
  if (!note.isFinalized) return;
  throw new PartnerApiFailure(403, 'ForbiddenException', 'Progress note is locked');
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
  const value: unknown = Object(body).userInstructions;
  if (typeof value !== 'string') throw invalid('userInstructions must be a string');
  const text = value.trim();
  if (text === '') throw invalid('userInstructions should not be empty');
  if (Array.from(text).length > 5_000)
    throw invalid('userInstructions must be shorter than or equal to 5000 characters');
  return text;
}
