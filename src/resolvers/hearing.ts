import type { Context } from '../context.ts';
import type { AssessmentEvent, PartnerEvent, SessionEvent } from '../events/partner-event.ts';
import { isSessionEvent } from '../events/partner-event.ts';
import type { Loaded } from '../loaded.ts';
import { liesUnderGrant } from './access.ts';
import { hasCode } from '../has-code.ts';
import { readPage } from './pages.ts';
import { parentsOf } from './parents.ts';
import { isInOwnList } from './unmet-client.ts';

/** May the viewer see this event in the log? Rejects if that takes a list that can't be read now. */
export function maySeeEvent(event: PartnerEvent, ctx: Context): Loaded<boolean> {
  const { reach } = ctx;
  if (reach.isPartner || reach.holds('client', event.clientId)) return true;
  if (!isSessionEvent(event)) return maySeeOfClient(event, ctx);
  return reach.holds('session', event.sessionId) || maySeeOfSession(event, ctx);
}

/**
 * The same for an event that is delivered live. There nobody can ask again, and what is held back is lost: while the
 * Partner API can't be asked, what it last said has to do, and for a session's event the event's own ids.
 */
export function mayHear(event: PartnerEvent, ctx: Context): Loaded<boolean> {
  const decided = maySeeEvent(event, ctx);
  if (!(decided instanceof Promise)) return decided;
  return decided.catch((error: unknown) => {
    if (CANT_BE_ASKED.some((code) => hasCode(error, code))) return wasUnderGrant(event, ctx);
    throw error;
  });
}

const CANT_BE_ASKED = [
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_RATE_LIMITED',
  'UPSTREAM_CREDENTIALS',
  'UPSTREAM_BAD_RESPONSE',
  'UPSTREAM_ROUTE',
  'QUERY_TOO_EXPENSIVE',
  'TIMEOUT',
];

async function maySeeOfClient(event: AssessmentEvent, ctx: Context): Promise<boolean> {
  return (await liesUnderGrant('client', event.clientId, ctx)) || isInOwnList(event, ctx);
}

/**
 * Whoever may see the client hears of it. An event's own ids are not enough: one about an old session names the
 * clinician of that time, wherever the client has gone since.
 */
async function maySeeOfSession(event: SessionEvent, ctx: Context): Promise<boolean> {
  const seesClient = await liesUnderGrant('client', event.clientId, ctx);
  if (!seesClient && !namesAGrant(event, ctx)) return false;
  const owners = await parentsOf('session', event.sessionId, 'client', ctx);
  if (owners.some(({ id }) => id !== event.clientId)) return false;
  // A client that is nowhere lies under nobody else: there the signed ids have the last word.
  return seesClient || !(await isThere(event, ctx));
}

const namesAGrant = (event: SessionEvent, { reach }: Context): boolean =>
  reach.holds('clinician', event.clinicianId) ||
  reach.holds('clinic', event.clinicId) ||
  reach.holds('organization', event.organizationId);

async function isThere({ clientId }: SessionEvent, ctx: Context): Promise<boolean> {
  try {
    await readPage({ name: 'sessionsOfClient', id: clientId }, 1, ctx);
    return true;
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return false;
    throw error;
  }
}

async function wasUnderGrant(event: PartnerEvent, ctx: Context): Promise<boolean> {
  const { organizationIds, clinicIds, clinicianIds } = await ctx.hub().placeOf(event);
  const isGranted = (kind: 'organization' | 'clinic' | 'clinician', ids: ReadonlySet<string>) =>
    ctx.reach.granted(kind).some((id) => ids.has(id));
  return (
    isGranted('organization', organizationIds) ||
    isGranted('clinic', clinicIds) ||
    isGranted('clinician', clinicianIds)
  );
}
