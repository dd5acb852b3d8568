import type { EventFacts } from './events/partner-event.ts';
import { isSessionEvent } from './events/partner-event.ts';
import { pathOf } from './rest/lists.ts';
import type { Partner } from './rest/partner.ts';
import { paths } from './rest/routes.ts';
import type { Milestones } from './store/milestones.ts';
import type { Store } from './store/store.ts';
import type { Uuid } from './uuid.ts';
import { linksOfEvent } from './viewer/event-links.ts';

/** What keeps answers right is not their age but this: events and edits drop what they make stale, everywhere. */
export interface Freshness {
  /** Here: before the sender's 2xx, and before any listener hears. */
  heard(events: readonly EventFacts[]): Promise<void>;
  /** At the door. Copies go to the other instances too: they are in no log that those would read. */
  accepted(events: readonly EventFacts[], copies: readonly EventFacts[]): Promise<void>;
  /** Here and on every other instance, before the answer to whoever changed it. */
  noteChanged(note: { readonly noteId: Uuid; readonly sessionId: Uuid | undefined }): Promise<void>;
  listsChanged(paths: readonly string[]): Promise<void>;
}

const TOPIC = 'forget';

export function createFreshness(partner: Partner, store: Store, milestones: Milestones): Freshness {
  store.bus.subscribe(TOPIC, (message) => partner.forget(JSON.parse(message) as string[]));
  store.bus.onGap(() => partner.forgetAll());

  async function heard(events: readonly EventFacts[]): Promise<void> {
    const stale = await Promise.all(events.map(stalePaths));
    partner.forget(stale.flat());
    await Promise.all(events.map(remember));
  }

  /** A regeneration may have another id: what was cached of the session's other notes goes too. */
  async function stalePaths(event: EventFacts): Promise<string[]> {
    if (!isSessionEvent(event)) return [paths.score(event.scoreId)];
    const { sessionId, clientId, clinicianId } = event;
    const notes = await store.lineage.childrenOf(`session:${sessionId}`, 'note');
    return [
      paths.noteOfSession(sessionId),
      paths.transcript(sessionId),
      paths.mdm(sessionId),
      ...notes.map((name) => paths.note(name.slice('note:'.length) as Uuid)),
      ...('progressNoteId' in event ? [paths.note(event.progressNoteId)] : []),
      pathOf({ name: 'sessionsOfClient', id: clientId }),
      pathOf({ name: 'magicEditsOfClinician', id: clinicianId }),
    ];
  }

  async function remember(event: EventFacts): Promise<void> {
    await linksOfEvent(event, store.lineage);
    if (event.type === 'progress_note_finalized') await milestones.markLocked(event.progressNoteId);
    if (event.type === 'session_transcript_error') await milestones.markFailed(event.sessionId);
  }

  async function forgetEverywhere(stale: readonly string[]): Promise<void> {
    partner.forget(stale);
    await store.bus.publish(TOPIC, JSON.stringify(stale));
  }

  return {
    heard,
    async accepted(events, copies) {
      await heard(events);
      if (copies.length > 0) {
        await forgetEverywhere((await Promise.all(copies.map(stalePaths))).flat());
      }
    },
    async noteChanged({ noteId, sessionId }) {
      const ofSession = sessionId ? [paths.noteOfSession(sessionId)] : [];
      await forgetEverywhere([paths.note(noteId), ...ofSession]);
    },
    listsChanged: forgetEverywhere,
  };
}
