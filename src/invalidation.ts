import { LRUCache } from 'lru-cache';

import { type EventFacts, type PartnerEvent, isSessionEvent } from './events/partner-event.ts';
import { endpoints } from './rest/endpoints.ts';
import { pathOf } from './rest/lists.ts';
import type { Partner } from './rest/partner.ts';
import type { Milestones } from './store/milestones.ts';
import type { Bus } from './store/store.ts';
import type { Uuid } from './uuid.ts';

/** More than the cache holds: two for each note. */
const MAX_PATHS = 100_000;

export type Invalidation = ReturnType<typeof createInvalidation>;

/** Events and changes invalidate the cached answers that they make stale, on every instance. */
export function createInvalidation(
  partner: Partner,
  bus: Bus,
  milestones: Milestones,
  onEvent: (event: PartnerEvent) => void,
) {
  /**
   * A note is cached by its own id and by its session's, and each path leads to the other here: a change may name the
   * note alone, and a regeneration that renames it does not name the old id.
   */
  const related = new LRUCache<string, Set<string>>({
    maxSize: MAX_PATHS,
    sizeCalculation: () => 1,
  });
  const clients = new LRUCache<Uuid, Uuid>({ maxSize: MAX_PATHS, sizeCalculation: () => 1 });

  function invalidate(stale: readonly string[]): void {
    partner.invalidate(stale.flatMap((path) => [path, ...(related.get(path) ?? [])]));
  }
  bus.subscribe(
    (message) => invalidate(JSON.parse(message) as readonly string[]),
    () => partner.invalidateAll(),
  );

  function stalePaths(event: EventFacts): string[] {
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

  /** Stores the lasting fact of an event; most events have none. */
  async function mark(event: EventFacts): Promise<void> {
    if (event.type === 'progress_note_finalized') await milestones.markLocked(event.progressNoteId);
    if (event.type === 'session_transcript_error') await milestones.markFailed(event.sessionId);
  }

  /** Invalidates paths on every instance. Never rejects: the change was made. */
  async function changed(stale: readonly string[]): Promise<void> {
    invalidate(stale);
    await bus.publish(JSON.stringify(stale));
  }

  return {
    /** Applies an event of the log, on every instance, before it is delivered. */
    async apply(event: PartnerEvent): Promise<void> {
      try {
        await mark(event);
      } finally {
        invalidate(stalePaths(event));
        onEvent(event);
      }
    },
    /** A copy is not in the log, so it is published to the other instances. */
    async applyCopies(copies: readonly EventFacts[]): Promise<void> {
      // The process may have been killed after the first delivery was stored and before its marks were.
      await Promise.all(copies.map(mark));
      await changed(copies.flatMap(stalePaths));
    },
    /** Records whose note it is: a change may name the note alone. */
    noteRead(noteId: Uuid, sessionId: Uuid | undefined, clientId: Uuid | undefined): void {
      if (clientId) clients.set(noteId, clientId);
      if (!sessionId) return;
      const note = endpoints.note.path(noteId);
      const ofSession = endpoints.noteOfSession.path(sessionId);
      const notes = related.get(ofSession) ?? new Set();
      if (notes.has(note) && related.get(note)) return;
      related.set(note, new Set([ofSession]));
      related.set(ofSession, notes.add(note));
    },
    clientOfNote: (noteId: Uuid): Uuid | undefined => clients.get(noteId),
    changed,
  };
}
