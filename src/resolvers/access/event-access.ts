import type { Context } from '../../context.ts';
import { type EventFilter, needsLists } from '../../events/filter.ts';
import {
  type AssessmentEvent,
  type PartnerEvent,
  isSessionEvent,
} from '../../events/partner-event.ts';
import type { Loaded } from '../../loaded.ts';
import { CallBudgetExhausted, PartnerError } from '../../rest/errors.ts';
import type { Uuid } from '../../uuid.ts';
import { NotFound } from '../errors.ts';
import { isClientUnder } from '../lookup/find.ts';
import type { ListedRef } from '../refs.ts';
import { isClientOfEventOpen, isOpen } from './prove.ts';

/**
 * May the viewer see this event? For a session's event, a grant must name one of its ids; for an assessment, its client
 * must be open. Records that an event links to need proof by a list in any case.
 */
export function maySeeEvent(event: PartnerEvent, ctx: Context): Loaded<boolean> {
  const { reach } = ctx;
  if (reach.isPartner || reach.holds('client', event.clientId)) return true;
  if (!isSessionEvent(event)) return isClientOfEventOpen(event.clientId, ctx);
  return (
    reach.holds('session', event.sessionId) ||
    reach.holds('clinician', event.clinicianId) ||
    reach.holds('clinic', event.clinicId) ||
    reach.holds('organization', event.organizationId)
  );
}

/**
 * May the viewer see this event, under this filter? An assessment's client has to be in the lists of the clinician,
 * clinic or organization that the filter names. Access to the filter's own records was checked before.
 */
export async function isVisible(
  event: PartnerEvent,
  filter: EventFilter,
  ctx: Context,
): Promise<boolean> {
  if (!(await maySeeEvent(event, ctx))) return false;
  return !needsLists(filter, event) || isClientUnder(filter, event.clientId, ctx);
}

/**
 * May the event be delivered live to the viewer, under this filter? A live event can't be requested again, so if the
 * Partner API is down, the lists that last held the client decide.
 */
export async function mayReceiveEvent(
  event: PartnerEvent,
  ctx: Context,
  filter: EventFilter = {},
): Promise<boolean> {
  try {
    return await isVisible(event, filter, ctx);
  } catch (error) {
    if (!(error instanceof PartnerError) || isSessionEvent(event)) throw error;
    return !(error instanceof CallBudgetExhausted) && wasListed(event, ctx, filter);
  }
}

async function wasListed(
  { clientId }: AssessmentEvent,
  { store, reach, recentLists }: Context,
  filter: EventFilter,
): Promise<boolean> {
  const places = await store.places.of(clientId);
  const known = places.filter(({ kind, id }) => {
    const name = kind === 'clinic' ? 'clientsOfClinic' : 'clientsOfClinician';
    return !recentLists.isDoubtful({ name, id: id as Uuid }, clientId);
  });
  const wasIn = (kind: string, id: Uuid | undefined) =>
    id === undefined || known.some((place) => place.kind === kind && place.id === id);
  const wasInOrganization = (id: Uuid | undefined) =>
    id === undefined ||
    [...recentLists.idsIn({ name: 'clinicsOfOrganization', id })].some((clinic) =>
      wasIn('clinic', clinic as Uuid),
    );
  const isUnderGrant =
    reach.isPartner ||
    reach.holds('client', clientId) ||
    known.some(({ kind, id }) => reach.holds(kind, id as Uuid)) ||
    reach.granted('organization').some(wasInOrganization);
  return (
    isUnderGrant &&
    wasIn('clinician', filter.clinicianId) &&
    wasIn('clinic', filter.clinicId) &&
    wasInOrganization(filter.organizationId)
  );
}

/** A record that a filter names must be open to the viewer; otherwise it does not exist. */
export async function requireFilterAccess(filter: EventFilter, ctx: Context): Promise<void> {
  const named = mostSpecificRecord(filter);
  if (!named) return;
  let reason = new NotFound();
  try {
    if (await isOpen(named, ctx)) return;
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    reason = error;
  }
  // Written now, since a rejected subscription never ends.
  ctx.audit?.writeNow('filter: denied', `${named.type}:${named.id}`);
  throw reason;
}

/** Only this record has to be open: the others narrow it further, and say where to look for it. */
function mostSpecificRecord(filter: EventFilter): ListedRef | undefined {
  const { sessionId, clientId, clinicianId, clinicId, organizationId } = filter;
  if (sessionId) {
    return {
      type: 'Session',
      id: sessionId,
      clientId: filter.clientOfSession,
      named: { clientId },
    };
  }
  if (clientId) return { type: 'Client', id: clientId, named: { clinicianId, clinicId } };
  if (clinicianId) return { type: 'Clinician', id: clinicianId, named: { clinicId } };
  if (clinicId) return { type: 'Clinic', id: clinicId, named: { organizationId } };
  return organizationId && { type: 'Organization', id: organizationId };
}
