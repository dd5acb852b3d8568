import type { EventFacts } from './events/partner-event.ts';
import { isSessionEvent } from './events/partner-event.ts';
import { pathOf } from './rest/lists.ts';
import type { Partner } from './rest/partner.ts';
import { paths } from './rest/routes.ts';
import type { Milestones } from './store/milestones.ts';
import type { Store } from './store/store.ts';
import type { Uuid } from './uuid.ts';
import { linksOfEvent } from './viewer/event-links.ts';

interface ChangedNote {
  readonly noteId: Uuid;
  readonly sessionId?: Uuid | undefined;
}

/** What keeps answers right is not their age but this: events and edits drop what they make stale, everywhere. */
export interface Freshness {
  /** Here: before the sender's 2xx, and before any listener hears. */
  heard(events: readonly EventFacts[]): Promise<void>;
  /** At the door. Copies go to the other instances too: they are in no log that those would read. */
  accepted(events: readonly EventFacts[], copies: readonly EventFacts[]): Promise<void>;
  /** Here and on every other instance, before the answer to whoever changed it. Never rejects: it has happened. */
  noteChanged(note: ChangedNote): Promise<void>;
  listsChanged(paths: readonly string[]): Promise<void>;
}

const PATHS = 'forget';
const NOTE = 'forget-note';

const idIn = (name: string): Uuid => name.slice(name.indexOf(':') + 1) as Uuid;

export function createFreshness(partner: Partner, store: Store, milestones: Milestones): Freshness {
  const { bus, lineage } = store;
  bus.subscribe(PATHS, (message) => partner.forget(JSON.parse(message) as string[]));
  bus.subscribe(NOTE, (message) => forgetNote(JSON.parse(message) as ChangedNote));
  bus.onGap(() => partner.forgetAll());

  async function heard(events: readonly EventFacts[]): Promise<void> {
    try {
      // Before anything is forgotten: an answer made in between would be kept without it.
      await Promise.all(events.map(remember));
    } finally {
      partner.forget(events.flatMap(namedPaths));
    }
    partner.forget(await otherNotes(events));
  }

  /** A regeneration may have another id: what was cached of the session's other notes goes too. */
  async function otherNotes(events: readonly EventFacts[]): Promise<string[]> {
    const sessions = new Set(events.filter(isSessionEvent).map(({ sessionId }) => sessionId));
    const notes = [...sessions].map((id) => lineage.childrenOf(`session:${id}`, 'note'));
    return (await Promise.all(notes)).flat().map((name) => paths.note(idIn(name)));
  }

  async function remember(event: EventFacts): Promise<void> {
    await Promise.all([linksOfEvent(event, lineage), mark(event)]);
  }

  async function mark(event: EventFacts): Promise<void> {
    if (event.type === 'progress_note_finalized') await milestones.markLocked(event.progressNoteId);
    if (event.type === 'session_transcript_error') await milestones.markFailed(event.sessionId);
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
    async accepted(events, copies) {
      await heard(events);
      if (copies.length === 0) return;
      // A sender repeats what was stored but not answered: it may have been cut off right before this.
      await Promise.all(copies.map(mark));
      await forgetEverywhere([...copies.flatMap(namedPaths), ...(await otherNotes(copies))]);
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
