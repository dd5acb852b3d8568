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

/** Events and changes drop the cached answers that they make stale, on every instance: that keeps answers right, not their TTL. */
export function createInvalidation(
  partner: Partner,
  store: Store,
  milestones: Milestones,
  onEvent: (event: PartnerEvent) => void,
) {
  const { bus, places } = store;
  bus.subscribe(PATHS, (message) => partner.forget(JSON.parse(message) as string[]));
  bus.subscribe(NOTE, (message) => forgetNote(JSON.parse(message) as ChangedNote));
  bus.onGap(() => partner.forgetAll());

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

  /** What is recorded for good; for most events that is nothing. */
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

  async function forgetEverywhere(stale: readonly string[]): Promise<void> {
    partner.forget(stale);
    await bus.publish(PATHS, JSON.stringify(stale));
  }

  /** The list of edits is that of the client's clinicians: which of them it was, only the event will say. */
  async function forgetNote({ noteId, ...named }: ChangedNote): Promise<void> {
    const owner = ownerOf.get(noteId);
    const sessionId = named.sessionId ?? owner?.sessionId;
    const clientId = named.clientId ?? owner?.clientId;
    partner.forget([
      endpoints.note.path(noteId),
      ...(sessionId ? [endpoints.noteOfSession.path(sessionId)] : []),
    ]);
    if (!clientId) return;
    const clinicians = (await places.of(clientId)).filter(({ kind }) => kind === 'clinician');
    partner.forget(
      clinicians.map(({ id }) => pathOf({ name: 'magicEditsOfClinician', id: id as Uuid })),
    );
  }

  return {
    /** An event of the log, on every instance, before it is delivered. */
    async apply(event: PartnerEvent): Promise<void> {
      try {
        await Promise.all(marksOf([event]));
      } finally {
        partner.forget(stalePaths(event));
        onEvent(event);
      }
    },
    /** An event that this instance has received: it alone records where the client is. */
    accepted(event: EventFacts): void {
      if (!isSessionEvent(event)) return;
      places.record(event.clientId, { kind: 'clinician', id: event.clinicianId });
      places.record(event.clientId, { kind: 'clinic', id: event.clinicId });
    },
    /** A copy is not in the log, so it is published to the other instances. */
    async applyCopies(copies: readonly EventFacts[]): Promise<void> {
      // The process may have been killed after the first delivery was stored, and before this was done.
      await Promise.all(marksOf(copies));
      await forgetEverywhere(copies.flatMap(stalePaths));
    },
    /** A note that may be cached by its own id from now on, and its session, where that is known. */
    noteRead(noteId: Uuid, sessionId: Uuid | undefined, clientId: Uuid | undefined): void {
      const known = ownerOf.get(noteId);
      if (!sessionId || (known?.sessionId === sessionId && (known.clientId || !clientId))) return;
      ownerOf.set(noteId, { sessionId, clientId });
      const notes = notesOf.get(sessionId) ?? new Set();
      notesOf.set(sessionId, notes.add(noteId));
    },
    /** Here and on every other instance, before the change is answered. Never rejects: it has happened. */
    async noteChanged(note: ChangedNote): Promise<void> {
      await Promise.all([forgetNote(note), bus.publish(NOTE, JSON.stringify(note))]);
    },
    listsChanged: forgetEverywhere,
  };
}

/** What an event makes stale by the ids in it. */
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
