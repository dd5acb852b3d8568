import type { Uuid } from '../uuid.ts';
import {
  type EventFacts,
  type EventType,
  type PartnerEvent,
  isSessionEvent,
} from './partner-event.ts';

/** All fields that are set must match. An empty list of types matches nothing. */
export interface EventFilter {
  readonly types?: readonly EventType[];
  readonly organizationId?: Uuid;
  readonly clinicId?: Uuid;
  readonly clinicianId?: Uuid;
  readonly clientId?: Uuid;
  readonly sessionId?: Uuid;
  /** The client in the session's global id. Only for the proof of access, not to filter by. */
  readonly clientOfSession?: Uuid;
}

const OWN_IDS = ['sessionId', 'clientId'] as const;
/** The most selective first. */
const IDS = [...OWN_IDS, 'clinicianId', 'clinicId', 'organizationId'] as const;

/**
 * A session's event is matched by its own ids. An assessment names its client alone, so where the filter names a parent,
 * it is only a candidate: the Partner API's lists decide.
 */
export function matches(filter: EventFilter, event: EventFacts): boolean {
  if (filter.types && !filter.types.includes(event.type)) return false;
  const ids: EventFilter = event;
  const compared: readonly (typeof IDS)[number][] = isSessionEvent(event) ? IDS : OWN_IDS;
  return compared.every((name) => !filter[name] || filter[name] === ids[name]);
}

/** Listeners, indexed by the most selective id of their filter, so that an event is compared with few of them. */
export function createListenerIndex<L>() {
  const slots = new Map<string, Set<{ readonly filter: EventFilter; readonly listener: L }>>();

  return {
    /** Returns the function that removes it. */
    add(filter: EventFilter, listener: L): () => void {
      const entry = { filter, listener };
      const name = IDS.find((each) => filter[each]);
      const key = name ? keyOf(name, filter) : ANY;
      const slot = slots.get(key) ?? new Set();
      slots.set(key, slot.add(entry));
      return () => {
        slot.delete(entry);
        if (slot.size === 0 && slots.get(key) === slot) slots.delete(key);
      };
    },
    /** One at a time: a listener that another one removes meanwhile is skipped. */
    *listenersFor(event: PartnerEvent): Generator<L> {
      const keys = isSessionEvent(event)
        ? [...IDS.map((name) => keyOf(name, event)), ANY]
        : // It names no parent, so filters by any parent are candidates.
          slots.keys();
      for (const key of keys)
        for (const { filter, listener } of slots.get(key) ?? [])
          if (matches(filter, event)) yield listener;
    },
  };
}

const ANY = 'any';
/** Keys have the kind of the id, since one id may be of two kinds. */
const keyOf = (name: (typeof IDS)[number], ids: EventFilter): string => `${name}:${ids[name]}`;
