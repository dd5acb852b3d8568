import type { EventFacts } from './events/partner-event.ts';
import { endpoints } from './rest/records.ts';
import { cachePathOf } from './rest/lists.ts';
import type { Partner } from './rest/partner.ts';
import type { Bus } from './store/store.ts';

export type Invalidation = ReturnType<typeof createInvalidation>;

/** Events and changes invalidate the cached answers that they make stale, on every instance. */
export function createInvalidation(partner: Partner, bus: Bus) {
  bus.subscribe(
    (message) => partner.invalidate(JSON.parse(message) as readonly string[]),
    () => partner.invalidateAll(),
  );

  /** Never rejects: the change was made. */
  async function invalidateEverywhere(stale: readonly string[]): Promise<void> {
    partner.invalidate(stale);
    await bus.publish(JSON.stringify(stale));
  }

  return {
    /** Applies an event of the log, on every instance, before it is delivered. */
    apply: (event: EventFacts) => partner.invalidate(stalePaths(event)),
    /** A copy is not in the log, so it is published to the other instances. */
    applyCopies: (copies: readonly EventFacts[]) =>
      invalidateEverywhere(copies.flatMap(stalePaths)),
    invalidateEverywhere,
  };
}

const ofSession = Object.values(endpoints).filter(({ template }) =>
  template.startsWith('/sessions/'),
);

function stalePaths(event: EventFacts): string[] {
  if (!('sessionId' in event)) return [endpoints.score.path(event.scoreId)];
  const { sessionId, clientId } = event;
  return [
    ...ofSession.map(({ path }) => path(sessionId)),
    ...('progressNoteId' in event ? [endpoints.note.path(event.progressNoteId)] : []),
    cachePathOf({ name: 'sessionsOfClient', id: clientId }),
    cachePathOf({ name: 'magicEditsOfClinician' }),
  ];
}
