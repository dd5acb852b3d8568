import type { Context } from '../context.ts';
import type { EventFilter } from '../events/filter.ts';
import type { Loaded } from '../loaded.ts';
import { isOpen } from './access.ts';
import { clientById } from './client.ts';
import { clinicById } from './clinic.ts';
import { clinicianById } from './clinician.ts';
import { NotFound } from './not-found.ts';
import { organizationById } from './organization.ts';
import type { ListedRef } from './refs.ts';
import { sessionById } from './session.ts';
import { recordNameOf } from './shown.ts';

/** A filter that names a record asks about that record: it must be the viewer's, or it does not exist. */
export async function mayListen(filter: EventFilter, ctx: Context): Promise<void> {
  const named = await mostParticular(filter, ctx);
  if (!named || (await isOpen(named, ctx))) return;
  const name = recordNameOf(named);
  if (name) ctx.audit?.did('subscribe: denied', name);
  throw new NotFound();
}

/** It alone has to be open: the others can only narrow it further, and say where to look for it. */
function mostParticular(filter: EventFilter, ctx: Context): Loaded<ListedRef | undefined> {
  const { sessionId, clientId, clinicianId, clinicId, organizationId } = filter;
  if (sessionId) return sessionById({ id: sessionId, clientId }, ctx);
  if (clientId) return clientById({ id: clientId, clinicianId, clinicId }, ctx);
  if (clinicianId) return clinicianById({ id: clinicianId, clinicId }, ctx);
  if (clinicId) return clinicById({ id: clinicId, organizationId }, ctx);
  return organizationId && organizationById({ id: organizationId });
}
