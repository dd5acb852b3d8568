import type { Uuid } from '../uuid.ts';
import type { EventFacts, EventType } from './partner-event.ts';
import { isSessionEvent } from './partner-event.ts';

/** Given fields are combined with AND. An empty list of types wants nothing. */
export interface EventFilter {
  readonly types?: readonly EventType[];
  readonly organizationId?: Uuid;
  readonly clinicId?: Uuid;
  readonly clinicianId?: Uuid;
  readonly clientId?: Uuid;
  readonly sessionId?: Uuid;
  /** Known from the signed id that named the session: for the proof of access, not to filter by. */
  readonly clientOfSession?: Uuid;
}

/** What an event lies under. For an assessment, which names its client only, the lineage tells. */
export interface Place {
  readonly organizationIds: ReadonlySet<string>;
  readonly clinicIds: ReadonlySet<string>;
  readonly clinicianIds: ReadonlySet<string>;
}

export type PlaceOf = (event: EventFacts) => Promise<Place>;

const NONE: ReadonlySet<string> = new Set();

/** Where an event says that it lies: nowhere, for an assessment. */
export function placeByOwnIds(event: EventFacts): Place {
  if (!isSessionEvent(event)) {
    return { organizationIds: NONE, clinicIds: NONE, clinicianIds: NONE };
  }
  return {
    organizationIds: new Set([event.organizationId]),
    clinicIds: new Set([event.clinicId]),
    clinicianIds: new Set([event.clinicianId]),
  };
}

/** True if `place` can change whether the filter takes the event: finding it may cost a look-up. */
export const needsPlace = (filter: EventFilter, event: EventFacts): boolean =>
  !isSessionEvent(event) &&
  (filter.organizationId ?? filter.clinicId ?? filter.clinicianId) !== undefined;

/** A session's event is judged by its own ids; `place` speaks only for those that have none. */
export function matches(filter: EventFilter, event: EventFacts, place: Place): boolean {
  if (filter.types !== undefined && !filter.types.includes(event.type)) return false;
  if (!agrees(filter.clientId, event.clientId)) return false;
  if (isSessionEvent(event)) {
    return (
      agrees(filter.sessionId, event.sessionId) &&
      agrees(filter.clinicianId, event.clinicianId) &&
      agrees(filter.clinicId, event.clinicId) &&
      agrees(filter.organizationId, event.organizationId)
    );
  }
  return (
    filter.sessionId === undefined &&
    within(filter.clinicianId, place.clinicianIds) &&
    within(filter.clinicId, place.clinicIds) &&
    within(filter.organizationId, place.organizationIds)
  );
}

const agrees = (wanted: Uuid | undefined, is: Uuid): boolean =>
  wanted === undefined || wanted === is;

const within = (wanted: Uuid | undefined, ids: ReadonlySet<string>): boolean =>
  wanted === undefined || ids.has(wanted);
