import { LRUCache } from 'lru-cache';

import type { EventFacts, PartnerEvent } from './events/partner-event.ts';
import { isSessionEvent } from './events/partner-event.ts';
import { pathOf } from './rest/lists.ts';
import type { Partner } from './rest/partner.ts';
import { paths } from './rest/endpoints.ts';
import type { Milestones } from './store/milestones.ts';
import type { Store } from './store/store.ts';
import type { Uuid } from './uuid.ts';
import { recordChangingLinks, recordLastingLinks } from './viewer/event-links.ts';

interface ChangedNote {
  readonly noteId: Uuid;
  readonly sessionId?: Uuid | undefined;
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
  noteMet(noteId: Uuid, sessionId: Uuid | undefined): void;
}

/** More sessions than a cache holds notes of. */
const MOST_SESSIONS = 50_000;
const MOST_STRANGERS = 50_000;
const MOST_TAKEN_IN = 2_000;

const PATHS = 'forget';
const NOTE = 'forget-note';

const idIn = (name: string): Uuid => name.slice(name.indexOf(':') + 1) as Uuid;

export function createFreshness(partner: Partner, store: Store, milestones: Milestones): Freshness {
  const { bus, lineage } = store;
  bus.subscribe(PATHS, (message) => partner.forget(JSON.parse(message) as string[]));
  bus.subscribe(NOTE, (message) => forgetNote(JSON.parse(message) as ChangedNote));
  bus.onGap(() => partner.forgetAll());

  // By id alone a note is cached apart from its session, and a rewrite that gives it another id does not name it.
  // Most have one note for good.
  const notesOf = new LRUCache<Uuid, Uuid | Set<Uuid>>({ max: MOST_SESSIONS });
  /** Notes met without their session: for those the lineage has to be asked. */
  const strangers = new LRUCache<Uuid, true>({ max: MOST_STRANGERS });

  /** For these all has been done at the door that needs no store. Until the log tells of them, too. */
  const takenIn = new Set<PartnerEvent>();

  async function heard(events: readonly PartnerEvent[]): Promise<void> {
    const others = events.filter((event) => !takenIn.delete(event));
    for (const event of others) recordLastingLinks(event, lineage);
    let stale = events;
    try {
      // Before anything is forgotten: an answer made in between would be kept without it.
      const links = recordChangingLinks(events, lineage);
      const [isNews] = await Promise.all([links, ...marksOf(others)]);
      if (!isNews) stale = others;
    } finally {
      for (const event of stale) partner.forget(stalePaths(event));
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
    }
    // A log that others share makes events of its own of them, and these would never be asked for.
    if (takenIn.size > MOST_TAKEN_IN) takenIn.clear();
  }

  async function settleCopies(copies: readonly EventFacts[]): Promise<void> {
    // A sender repeats what was stored but not answered: it may have been cut off right before this.
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
    heard,
    accepted(events, copies) {
      for (const event of events) recordLastingLinks(event, lineage);
      const marks = marksOf(events);
      if (marks.length === 0 && copies.length === 0) return settle(events);
      return Promise.all(marks).then(() => {
        settle(events);
        return copies.length > 0 ? settleCopies(copies) : undefined;
      });
    },
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
