import { LRUCache } from 'lru-cache';

import type { Context } from '../context.ts';
import type { AssessmentEvent } from '../events/partner-event.ts';
import type { ListRef } from '../rest/lists.ts';
import type { Partner } from '../rest/partner.ts';
import type { Uuid } from '../uuid.ts';
import { LINK_PROVES_FOR_MS } from '../viewer/link-age.ts';
import { everyRow, findInList, pageIfThere } from './search.ts';

type ClientList = ListRef<'clientsOfClinician' | 'clientsOfClinic'>;

/** A longer list is not looked through for one event. */
const MOST_ROWS = 500;

/**
 * Lists that were looked through a moment ago. All who stood in them have been met, so whoever has not is in none of
 * them. Ids of clinicians and clinics only.
 */
const lookedThrough = new WeakMap<Partner, LRUCache<string, true>>();

/**
 * An assessment names its client alone, and a client who is new has no session yet and was perhaps never listed. So
 * where the lineage does not say whose client it is, the viewer's own lists are looked through.
 */
export async function isInOwnList(event: AssessmentEvent, ctx: Context): Promise<boolean> {
  for await (const list of ownLists(event, ctx)) {
    if (ctx.usage.calls > ctx.usage.maxCalls / 2) return false;
    if (!(await holds(list, event.clientId, ctx))) continue;
    ctx.proofs().set(`client:${event.clientId}`, true);
    return true;
  }
  return false;
}

/** Those of the kinds of which the lineage knows none above the client: where it knows one, it is another's. */
async function* ownLists(event: AssessmentEvent, ctx: Context): AsyncGenerator<ClientList> {
  const { reach } = ctx;
  const { clinicianIds, clinicIds, organizationIds } = await ctx.hub().placeOf(event);
  if (clinicianIds.size === 0) {
    for (const id of reach.granted('clinician')) yield { name: 'clientsOfClinician', id };
  }
  if (clinicIds.size === 0) {
    for (const id of reach.granted('clinic')) yield { name: 'clientsOfClinic', id };
  }
  if (organizationIds.size > 0) return;
  for (const organization of reach.granted('organization')) {
    for await (const { id } of everyRow({ name: 'clinicsOfOrganization', id: organization }, ctx)) {
      if (clinicIds.size === 0 || clinicIds.has(id)) yield { name: 'clientsOfClinic', id };
    }
  }
}

async function holds(list: ClientList, clientId: Uuid, ctx: Context): Promise<boolean> {
  const known = lookedThroughBy(ctx.partner);
  const name = `${list.name}:${list.id}`;
  if (known.has(name)) return false;
  const first = await pageIfThere(list, 1, ctx);
  const isThere =
    first !== undefined &&
    first.total <= MOST_ROWS &&
    (await findInList({ list }, clientId, ctx)) !== undefined;
  if (!isThere) known.set(name, true);
  return isThere;
}

function lookedThroughBy(partner: Partner): LRUCache<string, true> {
  const known =
    lookedThrough.get(partner) ?? new LRUCache({ max: 10_000, ttl: LINK_PROVES_FOR_MS });
  lookedThrough.set(partner, known);
  return known;
}
