import type { Context } from '../../context.ts';
import type { JsonObject } from '../../json.ts';
import { secondaryCliniciansBody } from '../../rest/assumed-names.ts';
import { cachePathOf } from '../../rest/lists.ts';
import { writes } from '../../rest/endpoints.ts';
import type { Uuid } from '../../uuid.ts';
import { isOpen } from '../access/prove.ts';
import { BadInput } from '../../errors.ts';
import { ofClinician } from '../lookup/places.ts';
import type { ClientRef } from '../refs.ts';
import { type Invalid, type Missing, answerAbout, auditedWrite, rejectionOf } from './write.ts';

export type Minted = { readonly kind: 'minted'; readonly tokens: JsonObject };

/**
 * Returns one pair for one browser session: a refresh token that is used twice signs its clinician out everywhere. So a
 * pair is returned over plain HTTP only and is never stored, shared, sent again or logged.
 */
export function authenticateClinician(id: Uuid, ctx: Context): Promise<Minted | Missing> {
  return auditedWrite('authenticateClinician', `Clinician:${id}`, ctx, async () => {
    if (!ctx.isPlainHttp) {
      throw new BadInput('Clinician tokens are available over plain HTTP only.');
    }
    if (!(await isOpen({ type: 'Clinician', id }, ctx))) return { kind: 'missing' };
    const tokens = await ctx.partner.send(writes.authenticateClinician, id, undefined, ctx.usage);
    return { kind: 'minted', tokens };
  });
}

const MAX_CLINICIANS = 50;

export interface Assigned {
  readonly kind: 'assigned';
  readonly client: ClientRef;
  readonly raw: unknown;
}

/** The client must be the viewer's; the clinicians need not be: a colleague is often in another clinic. */
export function assignSecondaryClinicians(
  clientId: Uuid,
  ids: readonly Uuid[],
  ctx: Context,
): Promise<Assigned | Invalid | Missing> {
  const clinicianIds = [...new Set(ids)];
  const { length } = clinicianIds;
  return auditedWrite('assignSecondaryClinicians', `Client:${clientId}`, ctx, async () => {
    if (length < 1 || length > MAX_CLINICIANS) {
      const issue = `"clinicianIds" must have 1 to ${MAX_CLINICIANS} items, but got ${length}.`;
      return { kind: 'invalid', issues: [issue] };
    }
    const client: ClientRef = { type: 'Client', id: clientId };
    if (!(await isOpen(client, ctx))) return { kind: 'missing' };
    await ctx.store.bus.check();
    try {
      const body = secondaryCliniciansBody(clinicianIds);
      const { partner, usage } = ctx;
      const raw = await partner.send(writes.assignSecondaryClinicians, clientId, body, usage);
      return {
        kind: 'assigned',
        client: { ...client, open: true },
        raw: answerAbout(raw, undefined, clientId),
      };
    } catch (error) {
      return rejectionOf(error);
    } finally {
      // After a failure too: the change may have taken effect.
      const places = await ctx.places.of(clientId);
      const stale = [...clinicianIds.map(ofClinician), ...places.map(({ list }) => list)];
      await ctx.invalidation.invalidateEverywhere(stale.map(cachePathOf));
    }
  });
}
