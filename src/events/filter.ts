import type { Uuid } from '../uuid.ts';
import type { EventFacts, EventType, PartnerEvent } from './partner-event.ts';

const OWN_IDS = ['sessionId', 'clientId'] as const;
/** The most selective first. */
const IDS = [...OWN_IDS, 'clinicianId', 'clinicId', 'organizationId'] as const;
type IdName = (typeof IDS)[number];

/** All fields that are set must match. An empty list of types matches nothing. */
export interface EventFilter extends Readonly<Partial<Record<IdName, Uuid>>> {
  readonly types?: readonly EventType[];
  /** The client in the session's global id. Only for the proof of access, not to filter by. */
  readonly sessionClientId?: Uuid;
}

/** An assessment names only its client, so a filter by a parent does not exclude it here: the lists decide later. */
export function matches(filter: EventFilter, event: EventFacts): boolean {
  if (filter.types && !filter.types.includes(event.type)) return false;
  const ids: EventFilter = event;
  const compared: readonly IdName[] = 'sessionId' in event ? IDS : OWN_IDS;
  return compared.every((name) => !filter[name] || filter[name] === ids[name]);
}

const ANY = 'any';
/** Keys have the kind of the id, since one id may be of two kinds. */
const keyOf = (name: IdName, ids: EventFilter): string => `${name}:${ids[name]}`;

/** Listeners, by the most selective id of their filter, so that an event is compared with few of them. */
export function createListenerIndex() {
  // Not an EventEmitter, which takes seconds to remove 20,000 listeners of one name.
  const listeners = new Map<string, Set<(event: PartnerEvent) => unknown>>();

  return {
    /** The listener must not throw: it only queues the event. Returns the function that removes it. */
    add(filter: EventFilter, listener: (event: PartnerEvent) => void): () => void {
      const name = IDS.find((each) => filter[each]);
      const key = name ? keyOf(name, filter) : ANY;
      const onEvent = (event: PartnerEvent) => matches(filter, event) && listener(event);
      const slot = listeners.get(key) ?? new Set();
      listeners.set(key, slot.add(onEvent));
      return () => {
        if (slot.delete(onEvent) && slot.size === 0) listeners.delete(key);
      };
    },
    emit(event: PartnerEvent): void {
      const ownKeys = 'sessionId' in event && [...IDS.map((name) => keyOf(name, event)), ANY];
      // An assessment names no parent, so filters by any parent are candidates.
      for (const key of ownKeys || listeners.keys())
        for (const onEvent of listeners.get(key) ?? []) onEvent(event);
    },
  };
}
