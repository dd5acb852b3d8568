import type { Context } from '../context.ts';
import { pathOf } from '../rest/lists.ts';
import { PartnerNotFound, PartnerRejected } from '../rest/errors.ts';
import type { Uuid } from '../uuid.ts';
import { liesUnderGrant } from './access.ts';
import type { ClientRef } from './refs.ts';

const MOST_CLINICIANS = 50;

interface Assignment {
  readonly clientId: Uuid;
  readonly clinicianIds: readonly Uuid[];
}

export type AssignmentOutcome =
  | { readonly kind: 'assigned'; readonly client: ClientRef; readonly raw: unknown }
  | { readonly kind: 'invalid'; readonly issues: readonly string[] }
  | { readonly kind: 'missing' };

/** The client must be the viewer's; the clinicians need not be: a colleague is often in another clinic. */
export async function assignSecondaryClinicians(
  { clientId, clinicianIds }: Assignment,
  ctx: Context,
): Promise<AssignmentOutcome> {
  const each = [...new Set(clinicianIds)];
  if (each.length < 1 || each.length > MOST_CLINICIANS) {
    const issue = `"clinicianIds" must be 1 to ${MOST_CLINICIANS}, but got ${each.length}.`;
    return { kind: 'invalid', issues: [issue] };
  }
  if (!(await liesUnderGrant('client', clientId, ctx))) return { kind: 'missing' };
  try {
    const raw = await ctx.partner.writes.assignSecondaryClinicians(clientId, each, ctx.usage);
    await ctx.freshness.listsChanged(each.map((id) => pathOf({ name: 'clientsOfClinician', id })));
    return { kind: 'assigned', client: { kind: 'client', id: clientId, open: true }, raw };
  } catch (error) {
    if (error instanceof PartnerRejected) return { kind: 'invalid', issues: error.issues };
    if (error instanceof PartnerNotFound) return { kind: 'missing' };
    throw error;
  }
}
