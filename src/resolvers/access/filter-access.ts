import type { Context } from '../../context.ts';
import type { EventFilter } from '../../events/filter.ts';
import { NotFound } from '../not-found.ts';
import type { ListedRef } from '../refs.ts';
import { deniedFilter } from './audit-reads.ts';
import { isOpen } from './prove.ts';

/** A filter that names a record asks about that record: it must be open to the viewer, or it does not exist. */
export async function requireFilterAccess(filter: EventFilter, ctx: Context): Promise<void> {
  const named = mostSpecific(filter);
  if (!named || (await isOpen(named, ctx))) return;
  deniedFilter(named, ctx);
  throw new NotFound();
}

/** It alone has to be open: the others can only narrow it further, and say where to look for it. */
function mostSpecific(filter: EventFilter): ListedRef | undefined {
  const { sessionId, clientId, clinicianId, clinicId, organizationId } = filter;
  if (sessionId) {
    const parent = filter.clientOfSession;
    return { kind: 'session', id: sessionId, clientId: parent, named: { clientId }, open: false };
  }
  if (clientId)
    return { kind: 'client', id: clientId, named: { clinicianId, clinicId }, open: false };
  if (clinicianId) return { kind: 'clinician', id: clinicianId, named: { clinicId }, open: false };
  if (clinicId) return { kind: 'clinic', id: clinicId, named: { organizationId }, open: false };
  return organizationId && { kind: 'organization', id: organizationId, open: false };
}
