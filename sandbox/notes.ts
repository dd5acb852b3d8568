import { noteOf } from './clinical-text.ts';
import type { Ids } from './ids.ts';
import { SESSIONS_PER_CLIENT_LIMIT } from './layout.ts';
import type { Session, SessionBook } from './session-book.ts';

/** Where a note stands. Notes of the seed get one of these only once something changes them. */
export interface Note {
  readonly session: Session;
  /** Undefined until the first generation is done. */
  key: number | undefined;
  /** Sections to be seen while the first generation runs. */
  partialSections: number;
  /** Rewrites that were accepted and are not done yet. */
  running: number;
  rewrites: number;
  revision: number;
  /** What a person or a magic edit made of it; undefined while it is as generated. */
  content: readonly unknown[] | undefined;
  isFinalized: boolean;
}

export interface Notes {
  /** Undefined where no note will ever be: the transcription failed. */
  readonly ofSession: (session: Session) => Note | undefined;
  readonly find: (id: string) => Note | undefined;
  readonly idOf: (note: Note) => string | undefined;
  /** All of it, whatever of it is shown at the moment. */
  readonly wholeOf: (note: Note) => readonly unknown[];
  readonly view: (note: Note) => object;
  /** Gives the note a new id; the old one names nothing from now on. */
  readonly name: (note: Note) => void;
  /** Keeps what was changed in this note. */
  readonly keep: (note: Note) => void;
  readonly forget: (session: Session) => void;
}

/** A clinician signs after a while: the latest three notes of a client are still open. */
const OPEN_NOTES = 3;

export function createNotes(
  seed: number,
  ids: Ids,
  sessions: SessionBook,
  nextKey: () => number,
): Notes {
  const kept = new Map<number, Note>();
  const sessionOfNote = new Map<number, number>();

  function ofSession(session: Session): Note | undefined {
    if (session.transcript === 'failed') return undefined;
    const isGenerating = session.transcript === 'pending';
    return (
      kept.get(session.key) ?? {
        session,
        key: isGenerating ? undefined : session.key,
        partialSections: 0,
        running: 0,
        rewrites: 0,
        revision: 0,
        content: undefined,
        isFinalized: !isGenerating && session.key % SESSIONS_PER_CLIENT_LIMIT >= OPEN_NOTES,
      }
    );
  }

  const idOf = (note: Note) => (note.key === undefined ? undefined : ids.idOf('note', note.key));

  const wholeOf = (note: Note) => note.content ?? noteOf(seed, note.session, note.revision);

  function shown(note: Note): readonly unknown[] {
    const whole = wholeOf(note);
    if (note.key === undefined) return whole.slice(0, note.partialSections);
    return note.running > 0 ? whole.slice(0, Math.ceil(whole.length / 2)) : whole;
  }

  return {
    ofSession,
    idOf,
    wholeOf,
    find(id) {
      const key = ids.keyOf('note', id);
      const session = key === undefined ? undefined : sessions.get(sessionOfNote.get(key) ?? key);
      const note = session && ofSession(session);
      return note?.key === key ? note : undefined;
    },
    view: (note) => ({
      progressNoteId: idOf(note),
      sessionId: ids.idOf('session', note.session.key),
      noteType: note.session.noteType,
      isLoading: note.key === undefined || note.running > 0,
      note: shown(note),
    }),
    name(note) {
      if (note.key !== undefined) sessionOfNote.delete(note.key);
      note.key = nextKey();
      sessionOfNote.set(note.key, note.session.key);
    },
    keep: (note) => void kept.set(note.session.key, note),
    forget(session) {
      const note = kept.get(session.key);
      if (note?.key !== undefined) sessionOfNote.delete(note.key);
      kept.delete(session.key);
    },
  };
}
