import type { Context } from '../../context.ts';
import { pathOf } from '../../rest/lists.ts';
import { OutcomeUnknown, PartnerNotFound, PartnerRejected } from '../../rest/errors.ts';
import type { Uuid } from '../../uuid.ts';
import { isOpen } from '../access/prove.ts';
import type { ClientRef } from '../refs.ts';
import { auditedWrite } from './write.ts';

const MOST_CLINICIANS = 50;

interface Assignment {
  readonly clientId: Uuid;
  readonly clinicianIds: readonly Uuid[];
}

export type AssignmentOutcome =
  | { readonly kind: 'assigned'; readonly client: ClientRef; readonly raw: unknown }
  | { readonly kind: 'invalid'; readonly issues: readonly string[] }
  | { readonly kind: 'missing' };

export function assignSecondaryClinicians(
  { clientId, clinicianIds }: Assignment,
  ctx: Context,
): Promise<AssignmentOutcome> {
  const change = {
    action: 'assignSecondaryClinicians',
    record: `Client:${clientId}`,
    hint: 'send it again, which is safe',
  };
  return auditedWrite(change, ctx, () => assign(clientId, [...new Set(clinicianIds)], ctx));
}

/** The client must be the viewer's; the clinicians need not be: a colleague is often in another clinic. */
async function assign(
  clientId: Uuid,
  clinicianIds: readonly Uuid[],
  ctx: Context,
): Promise<AssignmentOutcome> {
  const { length } = clinicianIds;
  if (length < 1 || length > MOST_CLINICIANS) {
    const issue = `"clinicianIds" must be 1 to ${MOST_CLINICIANS}, but got ${length}.`;
    return { kind: 'invalid', issues: [issue] };
  }
  const client: ClientRef = { kind: 'client', id: clientId, open: false };
  if (!(await isOpen(client, ctx))) return { kind: 'missing' };
  const invalidate = () =>
    ctx.invalidation.listsChanged(
      clinicianIds.map((id) => pathOf({ name: 'clientsOfClinician', id })),
    );
  try {
    const { writes } = ctx.partner;
    const raw = await writes.assignSecondaryClinicians(clientId, clinicianIds, ctx.usage);
    await invalidate();
    return { kind: 'assigned', client: { ...client, open: true }, raw };
  } catch (error) {
    if (error instanceof PartnerRejected) return { kind: 'invalid', issues: error.issues };
    if (error instanceof PartnerNotFound) return { kind: 'missing' };
    if (error instanceof OutcomeUnknown) await invalidate();
    throw error;
  }
}
