import type { Context } from '../context.ts';
import type { PartnerEvent, SessionEvent } from '../events/partner-event.ts';
import { isSessionEvent } from '../events/partner-event.ts';
import type { Loaded } from '../loaded.ts';
import { liesUnderGrant, provesNow } from './access.ts';
import { hasCode } from './has-code.ts';
import { parentsOf } from './parents.ts';

/** May the viewer hear of this event? */
export function mayHear(event: PartnerEvent, ctx: Context): Loaded<boolean> {
  if (ctx.reach.isPartner) return true;
  // An assessment names its client alone: the lineage has to say under whom the client lies.
  return isSessionEvent(event)
    ? mayHearOf(event, ctx)
    : liesUnderGrant('client', event.clientId, ctx);
}

/** By the event's own, signed ids; where the lineage knows otherwise, the stricter of the two decides. */
function mayHearOf(event: SessionEvent, ctx: Context): Loaded<boolean> {
  const { reach } = ctx;
  if (reach.holds('session', event.sessionId) || reach.holds('client', event.clientId)) return true;
  const opens =
    reach.holds('clinician', event.clinicianId) ||
    reach.holds('clinic', event.clinicId) ||
    reach.holds('organization', event.organizationId);
  return opens && lineageAgrees(event, ctx);
}

async function lineageAgrees(event: SessionEvent, ctx: Context): Promise<boolean> {
  const [owner] = await parentsOf('session', event.sessionId, 'client', ctx);
  if (owner && owner.id !== event.clientId) return false;
  const known = await parentsOf('client', event.clientId, undefined, ctx);
  if (known.length === 0) return true;
  try {
    return await provesNow('client', event.clientId, known, ctx);
  } catch (error) {
    // The list can't be read again now. What was signed and what was last seen agree, or this was not reached.
    if (hasCode(error, 'UPSTREAM_UNAVAILABLE')) return true;
    throw error;
  }
}
