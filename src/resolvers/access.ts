import type { Context } from '../context.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import type { ListName, ListRef } from '../rest/lists.ts';
import type { Uuid } from '../uuid.ts';
import { type Parent, parentsOf } from './parents.ts';
import type { ListedRef } from './refs.ts';
import { findInList } from './search.ts';

/** A client can move to another clinician or clinic: for this long such a link is taken at its word. */
const LINK_PROVES_FOR_MS = 60_000;

type Kind = ListedRef['kind'];

/** May the viewer look inside? Walking down needs no question; everything else needs proof. */
export function isOpen(
  ref: { readonly kind: Kind; readonly id: Uuid; readonly open: boolean },
  ctx: Context,
): Loaded<boolean> {
  return ref.open || ctx.reach.isPartner || liesUnderGrant(ref.kind, ref.id, ctx);
}

/** Does a grant of the viewer's name this record, or one that it provably lies under? Asked once an operation. */
export function liesUnderGrant(kind: Kind, id: Uuid, ctx: Context): Loaded<boolean> {
  if (ctx.reach.isPartner || ctx.reach.holds(kind, id)) return true;
  const name = `${kind}:${id}`;
  const known = ctx.proofs.get(name);
  if (known !== undefined) return known;
  // A loop in the lineage proves nothing: while this is being asked, the answer below it is no.
  ctx.proofs.set(name, false);
  const proof = prove(kind, id, ctx).then((proven) => {
    ctx.proofs.set(name, proven);
    return proven;
  });
  ctx.proofs.set(name, proof);
  return proof;
}

async function prove(kind: Kind, id: Uuid, ctx: Context): Promise<boolean> {
  return provesNow(kind, id, await parentsOf(kind, id, undefined, ctx), ctx);
}

/** Do these links, or their lists read again, put the record under a grant? */
export async function provesNow(
  kind: Kind,
  id: Uuid,
  parents: readonly Parent[],
  ctx: Context,
): Promise<boolean> {
  const stale: Parent[] = [];
  for (const parent of parents) {
    if (!isKind(parent.kind) || !(await liesUnderGrant(parent.kind, parent.id, ctx))) continue;
    if (lasts(kind) || Date.now() - parent.seenAt < LINK_PROVES_FOR_MS) return true;
    stale.push(parent);
  }
  for (const parent of stale) if (await stillThere(kind, id, parent, ctx)) return true;
  return false;
}

/** Sessions never change their client. */
const lasts = (kind: Kind): boolean => kind === 'session';

/** Reads the list again; a list that no longer holds the row takes the link with it. */
async function stillThere(kind: Kind, id: Uuid, parent: Parent, ctx: Context): Promise<boolean> {
  const list = listBetween(kind, id, parent);
  if (list && (await findInList({ list, page: parent.page }, id, ctx))) return true;
  ctx.lineage.remove([{ child: `${kind}:${id}`, parent: `${parent.kind}:${parent.id}` }]);
  return false;
}

/** Is the record in this list of a parent that the viewer may open? The way in that a hint makes cheap. */
export function isListedUnder(
  list: ListRef<ListName>,
  parentKind: Kind,
  id: Uuid,
  ctx: Context,
): Loaded<boolean> {
  if (!list.id) return false;
  return whenLoaded(liesUnderGrant(parentKind, list.id, ctx), async (open) =>
    open ? (await findInList({ list }, id, ctx)) !== undefined : false,
  );
}

function listBetween(kind: Kind, id: Uuid, parent: Parent): ListRef<ListName> | undefined {
  const lists: Record<string, ListName> = {
    'clinic<organization': 'clinicsOfOrganization',
    'program<organization': 'programsOfOrganization',
    'program<client': 'programsOfClient',
    'clinician<clinic': 'cliniciansOfClinic',
    'client<clinic': 'clientsOfClinic',
    'client<clinician': 'clientsOfClinician',
  };
  const name = lists[`${kind}<${parent.kind}`];
  if (!name) return undefined;
  return name === 'cliniciansOfClinic'
    ? { name, id: parent.id, filter: { id } }
    : { name, id: parent.id };
}

const isKind = (kind: string): kind is Kind =>
  ['organization', 'clinic', 'program', 'clinician', 'client', 'session'].includes(kind);
