import { LRUCache } from 'lru-cache';

import { type EventFacts, type PartnerEvent, isSessionEvent } from './events/partner-event.ts';
import { pathOf } from './rest/lists.ts';
import type { Partner } from './rest/partner.ts';
import { paths } from './rest/endpoints.ts';
import type { Milestones } from './store/milestones.ts';
import type { Store } from './store/store.ts';
import type { Uuid } from './uuid.ts';

interface Owner {
  readonly sessionId: Uuid;
  readonly clientId: Uuid | undefined;
}

export interface ChangedNote {
  readonly noteId: Uuid;
  readonly sessionId?: Uuid | undefined;
  readonly clientId?: Uuid | undefined;
}

/** What keeps answers right is not their age but this: events and edits drop what they make stale, everywhere. */
export interface Freshness {
  /** From the log: before any listener hears. */
  heard(events: readonly PartnerEvent[]): Promise<void>;
  /** At the door, before the sender's 2xx: what can be done without asking the store. Copies go to the other instances too: they are in no log that those would read. */
  accepted(events: readonly PartnerEvent[], copies: readonly EventFacts[]): void | Promise<void>;
  /** Here and on every other instance, before the answer to whoever changed it. Never rejects: it has happened. */
  noteChanged(note: ChangedNote): Promise<void>;
  listsChanged(paths: readonly string[]): Promise<void>;
  /** A note that may be cached by its id from now on, and whose it is, where that is known. */
  noteRead(noteId: Uuid, sessionId: Uuid | undefined, clientId: Uuid | undefined): void;
}

/** More sessions than a cache holds notes of. */
const MAX_SESSIONS = 50_000;
const MOST_TAKEN_IN = 2_000;

const PATHS = 'forget';
const NOTE = 'forget-note';

export function createFreshness(
  partner: Partner,
  store: Store,
  milestones: Milestones,
  onEvent: (event: PartnerEvent) => void,
): Freshness {
  const { bus, places } = store;
  bus.subscribe(PATHS, (message) => partner.forget(JSON.parse(message) as string[]));
  bus.subscribe(NOTE, (message) => forgetNote(JSON.parse(message) as ChangedNote));
  bus.onGap(() => partner.forgetAll());

  // By id alone a note is cached apart from its session, and a rewrite that gives it another id does not name it.
  // Most have one note for good.
  const notesOf = new LRUCache<Uuid, Uuid | Set<Uuid>>({ max: MAX_SESSIONS });
  const ownerOf = new LRUCache<Uuid, Owner>({ max: MAX_SESSIONS });

  /** For these all has been done at the door that needs no store. Until the log tells of them, too. */
  const takenIn = new Set<PartnerEvent>();

  async function heard(events: readonly PartnerEvent[]): Promise<void> {
    const others = events.filter((event) => !takenIn.delete(event));
    try {
      await Promise.all(marksOf(others));
    } finally {
      for (const event of others) partner.forget(stalePaths(event));
      for (const event of events) onEvent(event);
    }
  }

  const stalePaths = (event: EventFacts): string[] => {
    if (!isSessionEvent(event)) return namedPaths(event);
    const met = notesOf.get(event.sessionId);
    if (!met) return namedPaths(event);
    const others = typeof met === 'string' ? [met] : [...met];
    return [...namedPaths(event), ...others.map(paths.note)];
  };

  /** What has to be written down for good; for most events that is nothing. */
  function marksOf(events: readonly EventFacts[]): Promise<void>[] {
    const marks: Promise<void>[] = [];
    for (const event of events) {
      if (event.type === 'progress_note_finalized')
        marks.push(milestones.markLocked(event.progressNoteId));
      if (event.type === 'session_transcript_error')
        marks.push(milestones.markFailed(event.sessionId));
    }
    return marks;
  }

  function settle(events: readonly PartnerEvent[]): void {
    for (const event of events) {
      partner.forget(stalePaths(event));
      takenIn.add(event);
      if (!isSessionEvent(event)) continue;
      places.record(event.clientId, { kind: 'clinician', id: event.clinicianId });
      places.record(event.clientId, { kind: 'clinic', id: event.clinicId });
    }
    // A log that others share makes events of its own of them, and these would never be asked for.
    if (takenIn.size > MOST_TAKEN_IN) takenIn.clear();
  }

  async function settleCopies(copies: readonly EventFacts[]): Promise<void> {
    // A sender repeats what was stored but not answered: it may have been cut off right before this.
    await Promise.all(marksOf(copies));
    await forgetEverywhere(copies.flatMap(stalePaths));
  }

  async function forgetEverywhere(stale: readonly string[]): Promise<void> {
    partner.forget(stale);
    await bus.publish(PATHS, JSON.stringify(stale));
  }

  /**
   * By what this instance knows: whoever has cached the note by its session knows whose it is, perhaps alone. The list of
   * edits is that of the client's clinicians: which of them it was, only the event will tell.
   */
  async function forgetNote({ noteId, ...named }: ChangedNote): Promise<void> {
    const owner = ownerOf.get(noteId);
    const session = named.sessionId ?? owner?.sessionId;
    const clientId = named.clientId ?? owner?.clientId;
    partner.forget([paths.note(noteId), ...(session ? [paths.noteOfSession(session)] : [])]);
    if (!clientId) return;
    const clinicians = (await places.of(clientId)).filter(({ kind }) => kind === 'clinician');
    partner.forget(
      clinicians.map(({ id }) => pathOf({ name: 'magicEditsOfClinician', id: id as Uuid })),
    );
  }

  return {
    heard,
    accepted(events, copies) {
      const marks = marksOf(events);
      if (marks.length === 0 && copies.length === 0) return settle(events);
      return Promise.all(marks).then(() => {
        settle(events);
        return copies.length > 0 ? settleCopies(copies) : undefined;
      });
    },
    noteRead(noteId, sessionId, clientId) {
      if (!sessionId) return;
      ownerOf.set(noteId, { sessionId, clientId });
      const met = notesOf.get(sessionId);
      if (met === undefined) notesOf.set(sessionId, noteId);
      else if (typeof met !== 'string') met.add(noteId);
      else if (met !== noteId) notesOf.set(sessionId, new Set([met, noteId]));
    },
    async noteChanged(note) {
      await Promise.all([forgetNote(note), bus.publish(NOTE, JSON.stringify(note))]);
    },
    listsChanged: forgetEverywhere,
  };
}

/** What an event makes stale by the ids in it. */
function namedPaths(event: EventFacts): string[] {
  if (!isSessionEvent(event)) return [paths.score(event.scoreId)];
  const { sessionId, clientId, clinicianId } = event;
  return [
    paths.noteOfSession(sessionId),
    paths.transcript(sessionId),
    paths.mdm(sessionId),
    ...('progressNoteId' in event ? [paths.note(event.progressNoteId)] : []),
    pathOf({ name: 'sessionsOfClient', id: clientId }),
    pathOf({ name: 'magicEditsOfClinician', id: clinicianId }),
  ];
}
