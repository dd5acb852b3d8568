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

export type Invalidation = ReturnType<typeof createInvalidation>;

/** Events and changes invalidate the cached answers that they make stale, on every instance. */
export function createInvalidation(
  partner: Partner,
  store: Store,
  milestones: Milestones,
  onEvent: (event: PartnerEvent) => void,
) {
  const { bus, places } = store;
  const handle = (message: string) => {
    const stale = JSON.parse(message) as readonly string[] | ChangedNote;
    return 'noteId' in stale ? invalidateNote(stale) : partner.invalidate(stale);
  };
  bus.subscribe(handle, () => partner.invalidateAll());

  // A note is cached by its own id apart from its session, and a regeneration that renames it does not name the old id.
  const notesOf = new LRUCache<Uuid, Set<Uuid>>({ maxSize: MAX_NOTES, sizeCalculation: () => 1 });
  const ownerOf = new LRUCache<Uuid, Omit<ChangedNote, 'noteId'>>({
    maxSize: MAX_NOTES,
    sizeCalculation: () => 1,
  });

  function stalePaths(event: EventFacts): string[] {
    if (!isSessionEvent(event)) return [endpoints.score.path(event.scoreId)];
    const { sessionId, clientId, clinicianId } = event;
    return [
      endpoints.noteOfSession.path(sessionId),
      endpoints.transcript.path(sessionId),
      endpoints.mdm.path(sessionId),
      ...('progressNoteId' in event ? [endpoints.note.path(event.progressNoteId)] : []),
      ...Array.from(notesOf.get(sessionId) ?? [], endpoints.note.path),
      pathOf({ name: 'sessionsOfClient', id: clientId }),
      pathOf({ name: 'magicEditsOfClinician', id: clinicianId }),
    ];
  }

  /** Stores the lasting fact of an event; most events have none. */
  async function mark(event: EventFacts): Promise<void> {
    if (event.type === 'progress_note_finalized') await milestones.markLocked(event.progressNoteId);
    if (event.type === 'session_transcript_error') await milestones.markFailed(event.sessionId);
  }

  async function invalidateEverywhere(stale: readonly string[]): Promise<void> {
    partner.invalidate(stale);
    await bus.publish(JSON.stringify(stale));
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
        await mark(event);
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
      await Promise.all(copies.map(mark));
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
      await Promise.all([invalidateNote(note), bus.publish(JSON.stringify(note))]);
    },
    listsChanged: invalidateEverywhere,
  };
}
