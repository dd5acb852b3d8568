import type { Context } from '../../context.ts';
import type { EventFilter } from '../../events/filter.ts';
import { type PartnerEvent, isSessionEvent } from '../../events/partner-event.ts';
import { RECORD_KINDS } from '../../viewer/viewer.ts';
import { NotFound } from '../../errors.ts';
import { Lookup } from '../lookup/lookup.ts';
import { type ListedRef, kindOf } from '../refs.ts';
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
  if (isSessionEvent(event))
    return reach.isPartner || RECORD_KINDS.some((kind) => reach.holds(kind, event[`${kind}Id`]));
  // The most specific record was checked before.
  for (const parent of recordsIn(filter).slice(1)) if (!(await isOpen(parent, ctx))) return false;
  const client = { type: 'Client', id: event.clientId } as const;
  const absentSince = ctx.recentLists.assessedAt(event.clientId);
  if (!(await isOpen(client, ctx, { absentSince }))) return false;
  return new Lookup(ctx, { absentSince }).isClientUnder(filter, event.clientId);
}

/** The most specific record that a filter names must be open to the viewer; otherwise it does not exist. */
export async function requireFilterAccess(filter: EventFilter, ctx: Context): Promise<void> {
  const [named] = recordsIn(filter);
  if (!named) return;
  try {
    if (!(await isOpen(named, ctx))) throw new NotFound();
  } catch (error) {
    // Written now, since a rejected subscription never ends.
    if (error instanceof NotFound)
      ctx.audit?.writeNow('filter: denied', `${named.type}:${named.id}`);
    throw error;
  }
}

/** The most specific type first. */
const TYPES = ['Session', 'Client', 'Clinician', 'Clinic', 'Organization'] as const;

/** The most specific record first: the others narrow it further, and say where to look for it. */
function recordsIn(filter: EventFilter): readonly ListedRef[] {
  return TYPES.flatMap((type) => {
    const id = filter[`${kindOf(type)}Id`];
    const clientId = type === 'Session' ? filter.clientOfSession : undefined;
    return id ? [{ type, id, clientId, namedParents: filter }] : [];
  });
}
