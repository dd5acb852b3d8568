import { notFound } from './errors.ts';
import type { Ids } from './ids.ts';
import { CLINIC_COUNT, CLINICIANS, ORGANIZATIONS } from './layout.ts';
import type { Note, Notes } from './notes.ts';
import type { Roster } from './roster.ts';
import type { Session, SessionBook } from './session-book.ts';

/** From the id in a path to the record it names. What is not there and what is not the partner's: both 404. */
export interface Owned {
  readonly organization: (id: string) => number;
  readonly clinic: (id: string) => number;
  readonly clinician: (id: string) => number;
  readonly client: (id: string) => number;
  readonly session: (id: string) => Session;
  readonly note: (id: string) => Note;
}

export function createOwned(ids: Ids, roster: Roster, sessions: SessionBook, notes: Notes): Owned {
  const below = (kind: 'organization' | 'clinic' | 'clinician', count: number, noun: string) => {
    return (id: string): number => {
      const key = ids.keyOf(kind, id);
      if (key === undefined || key >= count) throw notFound(noun);
      return key;
    };
  };
  return {
    organization: below('organization', ORGANIZATIONS, 'Organization'),
    clinic: below('clinic', CLINIC_COUNT, 'Clinic'),
    clinician: below('clinician', CLINICIANS, 'Clinician'),
    client(id) {
      const key = ids.keyOf('client', id);
      if (key === undefined || roster.clinicianOf(key) === undefined) throw notFound('Client');
      return key;
    },
    session(id) {
      const session = sessions.find(id);
      if (!session) throw notFound('Session');
      return session;
    },
    note(id) {
      const note = notes.find(id);
      if (!note) throw notFound('Progress note');
      return note;
    },
  };
}
