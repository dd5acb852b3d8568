import { noteText } from '../text/note-text.ts';
import { SESSIONS_PER_CLIENT_LIMIT } from './hierarchy.ts';
import type { Ids } from './ids.ts';
import type { Session, Sessions } from './sessions.ts';

export type Note = ReturnType<typeof noteOf>;
export type Notes = ReturnType<typeof createNotes>;

/** The latest three notes of a client are not finalized yet. */
const OPEN_NOTES = 3;

function noteOf(session: Session) {
  const isGenerating = session.transcript === 'pending';
  return {
    session,
    /** Undefined until the first generation is done. */
    key: isGenerating ? undefined : session.key,
    /** Number of sections that are visible while the first generation runs. */
    partialSections: 0,
    /** Rewrites that were accepted but are not finished. */
    pendingRewrites: 0,
    rewrites: 0,
    /** Which generated wording is current. */
    revision: 0,
    /** The content after an update or a magic edit. Undefined while the note is as generated. */
    content: undefined as readonly unknown[] | undefined,
    isFinalized: !isGenerating && session.key % SESSIONS_PER_CLIENT_LIMIT >= OPEN_NOTES,
  };
}

/** Seeded notes are computed from their session; a note is stored once something changes it. */
export function createNotes(seed: number, ids: Ids, sessions: Sessions, nextKey: () => number) {
  const stored = new Map<number, Note>();
  const sessionOfNote = new Map<number, number>();

  /** Undefined if the transcription failed: there will never be a note. */
  function ofSession(session: Session): Note | undefined {
    if (session.transcript === 'failed') return undefined;
    return stored.get(session.key) ?? noteOf(session);
  }

  const idOf = (note: Note) => (note.key === undefined ? undefined : ids.idOf('note', note.key));

  /** The whole content, even while only a part of it is visible. */
  const contentOf = (note: Note) => note.content ?? noteText(seed, note.session, note.revision);

  function visibleContent(note: Note): readonly unknown[] {
    const content = contentOf(note);
    if (note.key === undefined) return content.slice(0, note.partialSections);
    return note.pendingRewrites > 0 ? content.slice(0, Math.ceil(content.length / 2)) : content;
  }

  return {
    ofSession,
    idOf,
    contentOf,
    find(id: string): Note | undefined {
      const key = ids.keyOf('note', id);
      const session = key === undefined ? undefined : sessions.get(sessionOfNote.get(key) ?? key);
      const note = session && ofSession(session);
      return note?.key === key ? note : undefined;
    },
    record: (note: Note) => ({
      progressNoteId: idOf(note),
      sessionId: note.session.record.sessionId,
      noteType: note.session.record.noteType,
      isLoading: note.key === undefined || note.pendingRewrites > 0,
      note: visibleContent(note),
    }),
    /** Gives the note a new id. From now on the old id is not found. */
    assignId(note: Note) {
      if (note.key !== undefined) sessionOfNote.delete(note.key);
      note.key = nextKey();
      sessionOfNote.set(note.key, note.session.key);
    },
    store: (note: Note) => void stored.set(note.session.key, note),
    delete(session: Session) {
      const note = stored.get(session.key);
      if (note?.key !== undefined) sessionOfNote.delete(note.key);
      stored.delete(session.key);
    },
  };
}
