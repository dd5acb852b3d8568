import { LRUCache } from 'lru-cache';

import { type EventFacts, type PartnerEvent, isSessionEvent } from './events/partner-event.ts';
import { endpoints } from './rest/endpoints.ts';
import { pathOf } from './rest/lists.ts';
import type { Partner } from './rest/partner.ts';
import type { Milestones } from './store/milestones.ts';
import type { Store } from './store/store.ts';
import type { Uuid } from './uuid.ts';

interface ChangedNote {
  readonly noteId: Uuid;
  readonly sessionId?: Uuid | undefined;
  readonly clientId?: Uuid | undefined;
}

/** More notes than the cache holds. */
const MAX_NOTES = 50_000;

const PATHS = 'invalidate';
const NOTE = 'invalidate-note';

export type Invalidation = ReturnType<typeof createInvalidation>;

/** Events and changes invalidate the cached answers that they make stale, on every instance. */
export function createInvalidation(
  partner: Partner,
  store: Store,
  milestones: Milestones,
  onEvent: (event: PartnerEvent) => void,
) {
  const { bus, places } = store;
  bus.subscribe(PATHS, (message) => partner.invalidate(JSON.parse(message) as string[]));
  bus.subscribe(NOTE, (message) => invalidateNote(JSON.parse(message) as ChangedNote));
  bus.onGap(() => partner.invalidateAll());

  // A note is cached by its own id apart from its session, and a regeneration that renames it does not name the old id.
  const notesOf = new LRUCache<Uuid, Set<Uuid>>({ maxSize: MAX_NOTES, sizeCalculation: () => 1 });
  const ownerOf = new LRUCache<Uuid, Omit<ChangedNote, 'noteId'>>({
    maxSize: MAX_NOTES,
    sizeCalculation: () => 1,
  });

  const stalePaths = (event: EventFacts): string[] => {
    if (!isSessionEvent(event)) return namedPaths(event);
    const notes = notesOf.get(event.sessionId) ?? [];
    return [...namedPaths(event), ...Array.from(notes, endpoints.note.path)];
  };

  /** Facts that are stored; most events have none. */
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

  async function invalidateEverywhere(stale: readonly string[]): Promise<void> {
    partner.invalidate(stale);
    await bus.publish(PATHS, JSON.stringify(stale));
  }

  /** Magic edits are listed by clinician, whom the change does not name. Its event will. */
  async function invalidateNote({ noteId, ...named }: ChangedNote): Promise<void> {
    const owner = ownerOf.get(noteId);
    const sessionId = named.sessionId ?? owner?.sessionId;
    const clientId = named.clientId ?? owner?.clientId;
    partner.invalidate([
      endpoints.note.path(noteId),
      ...(sessionId ? [endpoints.noteOfSession.path(sessionId)] : []),
    ]);
    if (!clientId) return;
    const clinicians = (await places.of(clientId)).filter(({ kind }) => kind === 'clinician');
    partner.invalidate(
      clinicians.map(({ id }) => pathOf({ name: 'magicEditsOfClinician', id: id as Uuid })),
    );
  }

  return {
    /** Applies an event of the log, on every instance, before it is delivered. */
    async apply(event: PartnerEvent): Promise<void> {
      try {
        await Promise.all(marksOf([event]));
      } finally {
        partner.invalidate(stalePaths(event));
        onEvent(event);
      }
    },
    /** Called for an event that this instance received: it alone records where the client is. */
    accepted(event: EventFacts): void {
      if (!isSessionEvent(event)) return;
      places.record(event.clientId, { kind: 'clinician', id: event.clinicianId });
      places.record(event.clientId, { kind: 'clinic', id: event.clinicId });
    },
    /** A copy is not in the log, so it is published to the other instances. */
    async applyCopies(copies: readonly EventFacts[]): Promise<void> {
      // The process may have been killed after the first delivery was stored and before its marks were.
      await Promise.all(marksOf(copies));
      await invalidateEverywhere(copies.flatMap(stalePaths));
    },
    /** Records the session of a note that may be cached by its own id. */
    noteRead(noteId: Uuid, sessionId: Uuid | undefined, clientId: Uuid | undefined): void {
      const known = ownerOf.get(noteId);
      if (!sessionId || (known?.sessionId === sessionId && (known.clientId || !clientId))) return;
      ownerOf.set(noteId, { sessionId, clientId });
      const notes = notesOf.get(sessionId) ?? new Set();
      notesOf.set(sessionId, notes.add(noteId));
    },
    /** Invalidates the note on every instance before the mutation returns. Never rejects: the change was made. */
    async noteChanged(note: ChangedNote): Promise<void> {
      await Promise.all([invalidateNote(note), bus.publish(NOTE, JSON.stringify(note))]);
    },
    listsChanged: invalidateEverywhere,
  };
}

/** The paths that an event makes stale, by the ids in it. */
function namedPaths(event: EventFacts): string[] {
  if (!isSessionEvent(event)) return [endpoints.score.path(event.scoreId)];
  const { sessionId, clientId, clinicianId } = event;
  return [
    endpoints.noteOfSession.path(sessionId),
    endpoints.transcript.path(sessionId),
    endpoints.mdm.path(sessionId),
    ...('progressNoteId' in event ? [endpoints.note.path(event.progressNoteId)] : []),
    pathOf({ name: 'sessionsOfClient', id: clientId }),
    pathOf({ name: 'magicEditsOfClinician', id: clinicianId }),
  ];
}
