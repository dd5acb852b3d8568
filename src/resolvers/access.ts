import type { Context } from '../context.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import type { Uuid } from '../uuid.ts';
import { LINK_PROVES_FOR_MS } from '../viewer/link-age.ts';
import { type ListedKind, canLieUnder, isAbove, listBetween } from './hierarchy.ts';
import { type Parent, parentsOf } from './parents.ts';
import { findInList } from './search.ts';

/** May the viewer look inside? Walking down needs no question; everything else needs proof. */
export function isOpen(
  ref: { readonly kind: ListedKind; readonly id: Uuid; readonly open: boolean },
  ctx: Context,
): Loaded<boolean> {
  return ref.open || liesUnderGrant(ref.kind, ref.id, ctx);
}

/** Does a grant of the viewer's name this record, or one that it provably lies under? Asked once an operation. */
export function liesUnderGrant(kind: ListedKind, id: Uuid, ctx: Context): Loaded<boolean> {
  const { reach } = ctx;
  if (reach.isPartner || reach.holds(kind, id)) return true;
  if (!canLieUnder(kind, (above) => reach.granted(above).length > 0)) return refused(ctx);
  const name = `${kind}:${id}`;
  const known = ctx.proofs().get(name);
  if (known !== undefined) return known;
  const proof = prove(kind, id, ctx).then((proven) => proven || refused(ctx));
  ctx.proofs().set(name, proof);
  return proof;
}

/** Links that prove by themselves come before lists that have to be read again, and short lists before long ones. */
async function prove(kind: ListedKind, id: Uuid, ctx: Context): Promise<boolean> {
  const parents = await parentsOf(kind, id, undefined, ctx);
  for (const parent of cheapestFirst(kind, parents, ctx)) {
    if (!isAbove(kind, parent.kind) || !(await liesUnderGrant(parent.kind, parent.id, ctx)))
      continue;
    const remainingMs = provesFor(kind, parent, ctx);
    if (remainingMs > 0) return lastsFor(remainingMs, ctx);
    if (await stillThere(kind, id, parent, ctx)) return true;
  }
  return false;
}

/** For how many more milliseconds. Sessions never change their client. */
function provesFor(kind: ListedKind, { seenAt }: Parent, ctx: Context): number {
  if (kind === 'session') return Number.POSITIVE_INFINITY;
  const leftMs = seenAt + LINK_PROVES_FOR_MS - ctx.now();
  // Seen in times to come, by an instance whose clock is wrong: it would prove something until then.
  return leftMs > 2 * LINK_PROVES_FOR_MS ? 0 : leftMs;
}

function cheapestFirst(kind: ListedKind, parents: readonly Parent[], ctx: Context) {
  const price = (parent: Parent): number =>
    (provesFor(kind, parent, ctx) > 0 ? 0 : 8) +
    (ctx.reach.holds(parent.kind, parent.id) ? 0 : 4) +
    (parent.page === undefined ? 2 : 0) +
    (parent.kind === 'clinic' ? 1 : 0);
  return parents.toSorted((a, b) => price(a) - price(b));
}

/** Reads the list again; a list that no longer holds the row takes the link with it. */
async function stillThere(
  kind: ListedKind,
  id: Uuid,
  parent: Parent,
  ctx: Context,
): Promise<boolean> {
  const list = listBetween(kind, id, parent);
  if (list && (await findInList({ list, page: parent.page }, id, ctx))) return true;
  ctx.lineage().remove([{ child: `${kind}:${id}`, parent: `${parent.kind}:${parent.id}` }]);
  return false;
}

/**
 * The way in that a hint makes cheap: is the record in that list of a parent which the viewer may open? What the
 * lineage can't prove is looked for in the same way whether it is somebody else's or nobody's.
 */
export function isOpenUnder(
  kind: ListedKind,
  id: Uuid,
  parent: { readonly kind: ListedKind; readonly id: Uuid },
  ctx: Context,
): Loaded<boolean> {
  return whenLoaded(
    liesUnderGrant(kind, id, ctx),
    async (proven) => proven || isListedUnder(kind, id, parent, ctx),
  );
}

async function isListedUnder(
  kind: ListedKind,
  id: Uuid,
  parent: { readonly kind: ListedKind; readonly id: Uuid },
  ctx: Context,
): Promise<boolean> {
  const list = listBetween(kind, id, parent);
  if (!list || !(await liesUnderGrant(parent.kind, parent.id, ctx))) return false;
  if (!(await findInList({ list }, id, ctx))) return false;
  ctx.proofs().set(`${kind}:${id}`, true);
  return true;
}

/** Whoever keeps the operation's answer must not keep it for longer than the proof it rests on. */
function lastsFor(remainingMs: number, ctx: Context): true {
  const expiresAt = performance.now() + remainingMs;
  if (remainingMs < Infinity) ctx.usage.proofs.add({ value: undefined, expiresAt, valid: true });
  return true;
}

/** Nor a refusal at all: the next moment may bring the proof. */
function refused(ctx: Context): false {
  ctx.usage.proofs.add({ value: undefined, expiresAt: 0, valid: false });
  return false;
}
