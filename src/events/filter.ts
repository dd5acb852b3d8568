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

/** True if only the Partner API's lists can decide whether the event matches: an assessment names its client alone. */
export const needsLists = (filter: EventFilter, event: EventFacts): boolean =>
  !isSessionEvent(event) &&
  (filter.organizationId ?? filter.clinicId ?? filter.clinicianId) !== undefined;

/** A session's event is matched by its own ids. An assessment is only a candidate if `needsLists`. */
export function matches(filter: EventFilter, event: EventFacts): boolean {
  if (filter.types !== undefined && !filter.types.includes(event.type)) return false;
  if (!equalsIfSet(filter.clientId, event.clientId)) return false;
  if (!isSessionEvent(event)) return filter.sessionId === undefined;
  return (
    equalsIfSet(filter.sessionId, event.sessionId) &&
    equalsIfSet(filter.clinicianId, event.clinicianId) &&
    equalsIfSet(filter.clinicId, event.clinicId) &&
    equalsIfSet(filter.organizationId, event.organizationId)
  );
}

const equalsIfSet = (wanted: Uuid | undefined, is: Uuid): boolean =>
  wanted === undefined || wanted === is;

interface IndexedListener<L> {
  readonly filter: EventFilter;
  readonly listener: L;
  /** False once removed: a listener may remove another one while an event is delivered. */
  readonly active: boolean;
}

const ANY = 'any';
const ANY_PARENT = 'any parent';

/**
 * Listeners, indexed by the most selective id of their filter. Delivering an event takes time for each candidate, and
 * not for each listener.
 */
export function createListenerIndex<L>() {
  const slots = new Map<string, Set<IndexedListener<L>>>();

  return {
    /** Returns the function that removes it. */
    add(filter: EventFilter, listener: L): () => void {
      const entry = { filter, listener, active: true };
      for (const key of idsIn(filter)) {
        const slot = slots.get(key) ?? new Set();
        slots.set(key, slot.add(entry));
      }
      return () => {
        entry.active = false;
        for (const key of idsIn(filter)) {
          const slot = slots.get(key);
          slot?.delete(entry);
          if (slot?.size === 0) slots.delete(key);
        }
      };
    },
    receivers: (event: PartnerEvent): readonly IndexedListener<L>[] =>
      idsOf(event)
        .flatMap((id) => [...(slots.get(id) ?? [])])
        .filter(({ filter }) => matches(filter, event)),
  };
}

/** Keys have the kind of the id, since one id may be of two kinds. The second key is for assessments, which name no parent. */
function idsIn(filter: EventFilter): readonly string[] {
  const { sessionId, clientId, clinicianId, clinicId, organizationId } = filter;
  if (sessionId) return [`session:${sessionId}`];
  if (clientId) return [`client:${clientId}`];
  if (clinicianId) return [`clinician:${clinicianId}`, ANY_PARENT];
  if (clinicId) return [`clinic:${clinicId}`, ANY_PARENT];
  if (organizationId) return [`organization:${organizationId}`, ANY_PARENT];
  return [ANY];
}

function idsOf(event: PartnerEvent): readonly string[] {
  const client = `client:${event.clientId}`;
  if (!isSessionEvent(event)) return [client, ANY_PARENT, ANY];
  const { sessionId, clinicianId, clinicId, organizationId } = event;
  const above = [`clinician:${clinicianId}`, `clinic:${clinicId}`];
  return [`session:${sessionId}`, client, ...above, `organization:${organizationId}`, ANY];
}
