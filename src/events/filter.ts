import type { Uuid } from '../uuid.ts';
import type { EventFacts, EventType, PartnerEvent } from './partner-event.ts';
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

export interface Subscription<L> {
  readonly filter: EventFilter;
  readonly listener: L;
  /** False once removed: a listener that ends another's subscription ends it for this event too. */
  readonly active: boolean;
}

const ANY = '*';

/**
 * Each subscription is indexed by the most selective id of its filter, and by each of its types. An
 * event is looked up by the few ids it has itself, so it costs what its receivers cost, however many
 * others there are.
 */
export function createSubscriptionIndex<L>() {
  const slots = new Map<string, Set<Subscription<L>>>();
  let size = 0;

  return {
    get size(): number {
      return size;
    },
    /** Returns the function that removes it. */
    add(filter: EventFilter, listener: L): () => void {
      const subscription = { filter, listener, active: true };
      const keys = keysOf(filter);
      for (const key of keys) {
        const slot = slots.get(key);
        if (slot) slot.add(subscription);
        else slots.set(key, new Set([subscription]));
      }
      size += 1;
      return () => {
        if (!subscription.active) return;
        subscription.active = false;
        size -= 1;
        for (const key of keys) {
          const slot = slots.get(key);
          slot?.delete(subscription);
          if (slot?.size === 0) slots.delete(key);
        }
      };
    },
    receivers(event: PartnerEvent, place: Place): readonly Subscription<L>[] {
      const found: Subscription<L>[] = [];
      for (const id of idsOf(event, place)) {
        for (const type of [event.type, ANY]) {
          for (const subscription of slots.get(`${type} ${id}`) ?? []) {
            if (matches(subscription.filter, event, place)) found.push(subscription);
          }
        }
      }
      return found;
    },
  };
}

function keysOf(filter: EventFilter): readonly string[] {
  const { sessionId, clientId, clinicianId, clinicId, organizationId, types = [ANY] } = filter;
  const id = sessionId ?? clientId ?? clinicianId ?? clinicId ?? organizationId ?? ANY;
  return [...new Set<string>(types)].map((type) => `${type} ${id}`);
}

/** A set, so that one id in two roles is looked up once. */
function idsOf(event: PartnerEvent, place: Place): ReadonlySet<string> {
  if (isSessionEvent(event)) {
    const { sessionId, clientId, clinicianId, clinicId, organizationId } = event;
    return new Set([sessionId, clientId, clinicianId, clinicId, organizationId, ANY]);
  }
  const { clinicianIds, clinicIds, organizationIds } = place;
  return new Set([event.clientId, ...clinicianIds, ...clinicIds, ...organizationIds, ANY]);
}
