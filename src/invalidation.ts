import { LRUCache } from 'lru-cache';

import type { EventFacts, PartnerEvent } from './events/partner-event.ts';
import { isSessionEvent } from './events/partner-event.ts';
import { pathOf } from './rest/lists.ts';
import type { Partner } from './rest/partner.ts';
import { paths } from './rest/routes.ts';
import type { Milestones } from './store/milestones.ts';
import type { Store } from './store/store.ts';
import type { Uuid } from './uuid.ts';
import { recordChangingLinks, recordLastingLinks } from './viewer/event-links.ts';

interface ChangedNote {
  readonly noteId: Uuid;
  readonly sessionId?: Uuid | undefined;
}

/** Events and changes drop the cached answers that they make stale, on every instance: that keeps answers right, not their TTL. */
export interface Invalidation {
  /** Events of the log, on every instance, before they are delivered. */
  apply(events: readonly PartnerEvent[]): Promise<void>;
  /** A copy is not in the log, so the other instances are told of it. */
  applyCopies(copies: readonly EventFacts[]): Promise<void>;
  /** Here and on every other instance, before the answer to whoever changed it. Never rejects: it has happened. */
  noteChanged(note: ChangedNote): Promise<void>;
  listsChanged(paths: readonly string[]): Promise<void>;
  /** A note that may be cached by its id from now on, and its session, where that is known. */
  noteMet(noteId: Uuid, sessionId: Uuid | undefined): void;
}

/** More sessions than a cache holds notes of. */
const MOST_SESSIONS = 50_000;
const MOST_STRANGERS = 50_000;

const PATHS = 'invalidate';
const NOTE = 'invalidate-note';

const idIn = (name: string): Uuid => name.slice(name.indexOf(':') + 1) as Uuid;

export function createInvalidation(
  partner: Partner,
  store: Store,
  milestones: Milestones,
): Invalidation {
  const { bus, lineage } = store;
  bus.subscribe(PATHS, (message) => partner.forget(JSON.parse(message) as string[]));
  bus.subscribe(NOTE, (message) => forgetNote(JSON.parse(message) as ChangedNote));
  bus.onGap(() => partner.forgetAll());

  // By id alone a note is cached apart from its session, and a rewrite that gives it another id does not name it.
  // Most have one note for good.
  const notesOf = new LRUCache<Uuid, Uuid | Set<Uuid>>({ max: MOST_SESSIONS });
  /** Notes met without their session: for those the lineage has to be asked. */
  const strangers = new LRUCache<Uuid, true>({ max: MOST_STRANGERS });

  async function apply(events: readonly PartnerEvent[]): Promise<void> {
    for (const event of events) recordLastingLinks(event, lineage);
    try {
      // Before anything is invalidated: an answer made in between would be cached without it.
      await Promise.all([recordChangingLinks(events, lineage), ...marksOf(events)]);
    } finally {
      for (const event of events) partner.forget(stalePaths(event));
    }
    if (strangers.size > 0) partner.forget(await notesInLineage(events));
  }

  const stalePaths = (event: EventFacts): string[] => {
    if (!isSessionEvent(event)) return namedPaths(event);
    const met = notesOf.get(event.sessionId);
    if (!met) return namedPaths(event);
    const others = typeof met === 'string' ? [met] : [...met];
    return [...namedPaths(event), ...others.map(paths.note)];
  };

  async function notesInLineage(events: readonly EventFacts[]): Promise<string[]> {
    const sessions = new Set(events.filter(isSessionEvent).map(({ sessionId }) => sessionId));
    const notes = [...sessions].map((id) => lineage.childrenOf(`session:${id}`, 'note'));
    return (await Promise.all(notes)).flat().map((name) => paths.note(idIn(name)));
  }

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

  async function applyCopies(copies: readonly EventFacts[]): Promise<void> {
    // The process may have been killed after the first delivery was stored, and before this was done.
    await Promise.all(marksOf(copies));
    const inLineage = strangers.size > 0 ? await notesInLineage(copies) : [];
    await forgetEverywhere([...copies.flatMap(stalePaths), ...inLineage]);
  }

  async function forgetEverywhere(stale: readonly string[]): Promise<void> {
    partner.forget(stale);
    await bus.publish(PATHS, JSON.stringify(stale));
  }

  /**
   * By the instance's own lineage: whoever has cached the note by its session knows whose it is, perhaps alone. The
   * list of edits is that of the client's clinicians: which of them it was, only the event will tell.
   */
  async function forgetNote({ noteId, sessionId }: ChangedNote): Promise<void> {
    const given = sessionId ? [`session:${sessionId}`] : [];
    // Without its store an instance knows no more than it was told; what it holds is short-lived anyway.
    const sessions = [...given, ...(await above([`note:${noteId}`], 'session').catch(() => []))];
    partner.forget([
      paths.note(noteId),
      ...sessions.map((name) => paths.noteOfSession(idIn(name))),
    ]);
    const clients = await above(sessions, 'client').catch(() => []);
    const clinicians = await above(clients, 'clinician').catch(() => []);
    partner.forget(
      clinicians.map((name) => pathOf({ name: 'magicEditsOfClinician', id: idIn(name) })),
    );
  }

  async function above(names: readonly string[], kind: string): Promise<string[]> {
    const links = (await lineage.parentsOf(names)).flat();
    return links.map(({ parent }) => parent).filter((parent) => parent.startsWith(`${kind}:`));
  }

  return {
    apply,
    applyCopies,
    noteMet(noteId, sessionId) {
      if (!sessionId) {
        strangers.set(noteId, true);
        return;
      }
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
