import type { EventFacts } from './events/partner-event.ts';
import { recordEndpoints } from './rest/records.ts';
import { cachePathOf } from './rest/lists.ts';
import type { Partner } from './rest/partner.ts';
import type { Bus } from './store/store.ts';

export type Invalidation = ReturnType<typeof createInvalidation>;

/**
 * Events and changes invalidate the cached answers that they make stale, on every instance. `onChanged` is called with
 * each path that is stale for another reason than an event of the log, or without one if any path may be.
 */
export function createInvalidation(partner: Partner, bus: Bus, onChanged: (path?: string) => void) {
  function invalidate(stale: readonly string[]): void {
    partner.invalidate(stale);
    for (const path of stale) onChanged(path);
  }

  bus.subscribe(
    (message) => invalidate(JSON.parse(message) as readonly string[]),
    () => {
      partner.invalidateAll();
      onChanged();
    },
  );

  /** Never rejects: the change was made. */
  async function invalidateEverywhere(stale: readonly string[]): Promise<void> {
    invalidate(stale);
    await bus.publish(JSON.stringify(stale));
  }

  return {
    /** Applies an event of the log, on every instance, before it is delivered. */
    apply: (event: EventFacts) => partner.invalidate(stalePaths(event)),
    /** For events that are not in the log (copies), or that this instance could not read from it yet. */
    applyEverywhere: (events: readonly EventFacts[]) =>
      invalidateEverywhere(events.flatMap(stalePaths)),
    invalidateEverywhere,
  };
}

const sessionEndpoints = Object.values(recordEndpoints).filter(({ template }) =>
  template.startsWith('/sessions/'),
);

function stalePaths(event: EventFacts): string[] {
  if (!('sessionId' in event)) return [recordEndpoints.score.path(event.scoreId)];
  const { sessionId, clientId } = event;
  return [
    ...sessionEndpoints.map(({ path }) => path(sessionId)),
    ...('progressNoteId' in event ? [recordEndpoints.note.path(event.progressNoteId)] : []),
    // The note may have replaced one that the event does not name.
    ...(event.type === 'progress_note_regenerated' ? [recordEndpoints.note.template] : []),
    cachePathOf({ name: 'sessionsOfClient', id: clientId }),
    cachePathOf({ name: 'magicEditsOfClinician' }),
  ];
}
