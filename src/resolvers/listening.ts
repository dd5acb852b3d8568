import type { Context } from '../context.ts';
import type { EventFilter } from '../events/filter.ts';
import { liesUnderGrant } from './access.ts';
import { NotFound } from './not-found.ts';

/** From the most particular id on: it alone has to be open, the others can only narrow it further. */
const KINDS = ['session', 'client', 'clinician', 'clinic', 'organization'] as const;

/** A filter that names a record asks about that record: it must be the viewer's, or it does not exist. */
export async function mayListen(filter: EventFilter, ctx: Context): Promise<void> {
  for (const kind of KINDS) {
    const id = filter[`${kind}Id`];
    if (id === undefined) continue;
    if (await liesUnderGrant(kind, id, ctx)) return;
    throw new NotFound();
  }
}
