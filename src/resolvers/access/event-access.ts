import type { Context } from '../../context.ts';
import {
  type AssessmentEvent,
  type PartnerEvent,
  isSessionEvent,
} from '../../events/partner-event.ts';
import type { Loaded } from '../../loaded.ts';
import type { Uuid } from '../../uuid.ts';
import { hasCode } from '../../has-code.ts';
import { isOpen } from './prove.ts';

/**
 * May the viewer see this event? A session's event says by its own ids to whom it belongs: a grant must name one of them.
 * An assessment names its client alone, who must be open. What an event links to needs proof by a list in any case.
 */
export function maySeeEvent(event: PartnerEvent, ctx: Context): Loaded<boolean> {
  const { reach } = ctx;
  if (reach.isPartner || reach.holds('client', event.clientId)) return true;
  if (!isSessionEvent(event)) return isOpen(clientOf(event), ctx);
  return (
    reach.holds('session', event.sessionId) ||
    reach.holds('clinician', event.clinicianId) ||
    reach.holds('clinic', event.clinicId) ||
    reach.holds('organization', event.organizationId)
  );
}

/**
 * The same for an event that is delivered live. Nobody can ask for it again, so while the Partner API can't be asked the
 * lists that last held the client decide.
 */
export function mayReceiveEvent(event: PartnerEvent, ctx: Context): Loaded<boolean> {
  const decided = maySeeEvent(event, ctx);
  if (!(decided instanceof Promise)) return decided;
  return decided.catch((error: unknown) => {
    const isUnavailable = UNAVAILABLE.some((code) => hasCode(error, code));
    if (isUnavailable && !isSessionEvent(event)) return wasUnderGrant(event, ctx);
    throw error;
  });
}

const UNAVAILABLE = [
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_RATE_LIMITED',
  'UPSTREAM_CREDENTIALS',
  'UPSTREAM_BAD_RESPONSE',
  'UPSTREAM_ROUTE',
  'QUERY_TOO_EXPENSIVE',
  'TIMEOUT',
];

const clientOf = ({ clientId }: AssessmentEvent) =>
  ({ kind: 'client', id: clientId, open: false }) as const;

async function wasUnderGrant({ clientId }: AssessmentEvent, ctx: Context): Promise<boolean> {
  const places = await ctx.places.of(clientId);
  return places.some(({ kind, id }) => ctx.reach.holds(kind, id as Uuid));
}
