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

/** The clinics and clinicians whose lists last held an assessment's client. Empty sets mean unknown. */
export interface ClientLocation {
  readonly clinicIds: ReadonlySet<string>;
  readonly clinicianIds: ReadonlySet<string>;
}

/** A session's event names its clinician, clinic and organization, so its location is never read. */
export const UNKNOWN_LOCATION: ClientLocation = { clinicIds: new Set(), clinicianIds: new Set() };

/** True if only `location`, or a list of the Partner API, can decide whether the event matches. */
export const needsLocation = (filter: EventFilter, event: EventFacts): boolean =>
  !isSessionEvent(event) &&
  (filter.organizationId ?? filter.clinicId ?? filter.clinicianId) !== undefined;

/**
 * A session's event is matched by its own ids. An assessment is only a candidate if `needsLocation`: another location
 * rules it out, and the caller verifies the rest by the Partner API's lists.
 */
export function matches(filter: EventFilter, event: EventFacts, location: ClientLocation): boolean {
  if (filter.types !== undefined && !filter.types.includes(event.type)) return false;
  if (!equalsIfSet(filter.clientId, event.clientId)) return false;
  if (isSessionEvent(event)) {
    return (
      equalsIfSet(filter.sessionId, event.sessionId) &&
      equalsIfSet(filter.clinicianId, event.clinicianId) &&
      equalsIfSet(filter.clinicId, event.clinicId) &&
      equalsIfSet(filter.organizationId, event.organizationId)
    );
  }
  return (
    filter.sessionId === undefined &&
    mayBeAmong(filter.clinicianId, location.clinicianIds) &&
    mayBeAmong(filter.clinicId, location.clinicIds)
  );
}

/** Like `matches`, with the location looked up if it is needed. */
export async function isCandidate(
  filter: EventFilter,
  event: PartnerEvent,
  locationOf: (event: PartnerEvent) => Promise<ClientLocation>,
): Promise<boolean> {
  const location = needsLocation(filter, event) ? await locationOf(event) : UNKNOWN_LOCATION;
  return matches(filter, event, location);
}

const equalsIfSet = (wanted: Uuid | undefined, is: Uuid): boolean =>
  wanted === undefined || wanted === is;

const mayBeAmong = (wanted: Uuid | undefined, ids: ReadonlySet<string>): boolean =>
  wanted === undefined || ids.size === 0 || ids.has(wanted);

interface IndexedListener<L> {
  readonly filter: EventFilter;
  readonly listener: L;
  /** False once removed: a listener may remove another one while an event is delivered. */
  readonly active: boolean;
}

const ANY = 'any';

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
    receivers: (event: PartnerEvent, location: ClientLocation): readonly IndexedListener<L>[] =>
      idsOf(event, location)
        .flatMap((id) => [...(slots.get(id) ?? [])])
        .filter(({ filter }) => matches(filter, event, location)),
  };
}

/**
 * Keys have the kind of the id, since one id may be of two kinds. The second key is for assessments whose location is
 * unknown.
 */
function idsIn(filter: EventFilter): readonly string[] {
  const { sessionId, clientId, clinicianId, clinicId, organizationId } = filter;
  if (sessionId) return [`session:${sessionId}`];
  if (clientId) return [`client:${clientId}`];
  if (clinicianId) return [`clinician:${clinicianId}`, 'any clinician'];
  if (clinicId) return [`clinic:${clinicId}`, 'any clinic'];
  if (organizationId) return [`organization:${organizationId}`, 'any organization'];
  return [ANY];
}

function idsOf(event: PartnerEvent, location: ClientLocation): readonly string[] {
  const client = `client:${event.clientId}`;
  if (isSessionEvent(event)) {
    const { sessionId, clinicianId, clinicId, organizationId } = event;
    const above = [`clinician:${clinicianId}`, `clinic:${clinicId}`];
    return [`session:${sessionId}`, client, ...above, `organization:${organizationId}`, ANY];
  }
  const clinicians = Array.from(location.clinicianIds, (id) => `clinician:${id}`);
  const clinics = Array.from(location.clinicIds, (id) => `clinic:${id}`);
  return [
    client,
    ...(clinicians.length > 0 ? clinicians : ['any clinician']),
    ...(clinics.length > 0 ? clinics : ['any clinic']),
    'any organization',
    ANY,
  ];
}
