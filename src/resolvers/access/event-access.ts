import type { Context } from '../../context.ts';
import type { EventFilter } from '../../events/filter.ts';
import {
  type AssessmentEvent,
  type PartnerEvent,
  isSessionEvent,
} from '../../events/partner-event.ts';
import { CallBudgetExhausted, PartnerError, isTemporary } from '../../rest/errors.ts';
import type { ListRef } from '../../rest/lists.ts';
import type { Uuid } from '../../uuid.ts';
import { NotFound } from '../errors.ts';
import { grantedLists, isClientUnder, isGranted } from '../lookup/find.ts';
import { isSameList, ofClinic, ofClinician } from '../lookup/places.ts';
import type { ListedRef } from '../refs.ts';
import { isOpen } from './prove.ts';

/**
 * May the viewer see this event, under this filter? For a session's event, a grant must name one of its ids. For an
 * assessment, its client must be open, and in the lists of the clinician, clinic or organization that the filter names,
 * which must be open too: no list is read that the viewer may not. Records that an event links to need proof by a list in any
 * case.
 */
export async function isVisible(
  event: PartnerEvent,
  filter: EventFilter,
  ctx: Context,
): Promise<boolean> {
  const { reach } = ctx;
  if (isSessionEvent(event)) {
    return (
      reach.isPartner ||
      reach.holds('client', event.clientId) ||
      reach.holds('session', event.sessionId) ||
      reach.holds('clinician', event.clinicianId) ||
      reach.holds('clinic', event.clinicId) ||
      reach.holds('organization', event.organizationId)
    );
  }
  if (!(await areParentsOpen(filter, ctx))) return false;
  // Events of all other clients come here too, so a list without the client is not read again for each.
  const client = { type: 'Client', id: event.clientId } as const;
  if (!(await isOpen(client, ctx, { trustAbsence: true }))) return false;
  return isClientUnder(filter, event.clientId, ctx);
}

/**
 * May the event be delivered to the viewer, under this filter? If the Partner API fails, the lists that last held the
 * client decide. If none is known, throws a failure that may pass: it can be decided later.
 */
export async function mayReceiveEvent(
  event: PartnerEvent,
  ctx: Context,
  filter: EventFilter,
): Promise<boolean> {
  try {
    return await isVisible(event, filter, ctx);
  } catch (error) {
    if (!(error instanceof PartnerError) || isSessionEvent(event)) throw error;
    if (error instanceof CallBudgetExhausted) return false;
    return wasListed(event, ctx, filter, error);
  }
}

/** Whether lists that last held the client allow it. Those that a later event contradicts do not count. */
async function wasListed(
  { clientId: id }: AssessmentEvent,
  ctx: Context,
  filter: EventFilter,
  failure: PartnerError,
): Promise<boolean> {
  const { reach, recentLists } = ctx;
  const places = await ctx.places.of(id);
  if (places.length === 0 && isTemporary(failure)) throw failure;
  const known = places.filter(({ list }) => !recentLists.isDoubtful(list, id));
  const wasIn = (lists: readonly ListRef[]) =>
    lists.some((list) => known.some((place) => isSameList(place.list, list)));
  const wasInOrganization = (organization: Uuid) => {
    const clinics = { name: 'clinicsOfOrganization', id: organization } as const;
    return wasIn(Array.from(recentLists.idsIn(clinics), (clinic) => ofClinic(clinic as Uuid)));
  };
  const client = { type: 'Client', id } as const;
  const isUnderGrant =
    isGranted(client, ctx) ||
    wasIn(grantedLists(client, ctx)) ||
    reach.granted('organization').some(wasInOrganization);
  const { clinicianId, clinicId, organizationId } = filter;
  return (
    isUnderGrant &&
    (await areParentsOpen(filter, ctx)) &&
    (!clinicianId || wasIn([ofClinician(clinicianId)])) &&
    (!clinicId || wasIn([ofClinic(clinicId)])) &&
    (!organizationId || wasInOrganization(organizationId))
  );
}

/** Whether the viewer may open the records of a filter beside the most specific one, which was checked before. */
async function areParentsOpen(filter: EventFilter, ctx: Context): Promise<boolean> {
  for (const parent of recordsIn(filter).slice(1)) if (!(await isOpen(parent, ctx))) return false;
  return true;
}

/** The most specific record that a filter names must be open to the viewer; otherwise it does not exist. */
export async function requireFilterAccess(filter: EventFilter, ctx: Context): Promise<void> {
  const [named] = recordsIn(filter);
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

/** The most specific record first: the others narrow it further, and say where to look for it. */
function recordsIn(filter: EventFilter): readonly ListedRef[] {
  const { sessionId, clientId, clinicianId, clinicId, organizationId } = filter;
  const records: readonly (ListedRef | undefined)[] = [
    sessionId && {
      type: 'Session',
      id: sessionId,
      clientId: filter.clientOfSession,
      named: { clientId },
    },
    clientId && { type: 'Client', id: clientId, named: { clinicianId, clinicId } },
    clinicianId && { type: 'Clinician', id: clinicianId, named: { clinicId } },
    clinicId && { type: 'Clinic', id: clinicId, named: { organizationId } },
    organizationId && { type: 'Organization', id: organizationId },
  ];
  return records.filter((record) => record !== undefined);
}
