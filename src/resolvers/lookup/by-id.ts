import type { Context } from '../../context.ts';
import { type Loaded, whenLoaded } from '../../loaded.ts';
import { auditDenial, auditRead } from '../access/audit-reads.ts';
import { isOpen } from '../access/prove.ts';
import { NotFound } from '../errors.ts';
import { type ListedRef, parentIn } from '../refs.ts';
import { find } from './find.ts';

/** A record's attributes; undefined if it is nowhere, or not open to the viewer. */
export function recordOf<R extends ListedRef>(
  ref: R,
  ctx: Context,
): Loaded<NonNullable<R['record']> | undefined> {
  if (ref.record && ref.open) return ref.record;
  return whenLoaded(ref.open || isOpen(ref, ctx), (open) =>
    whenLoaded(open ? find(ref, ctx) : undefined, (found) => {
      (found ? auditRead : auditDenial)(ref, ctx);
      return found?.row as NonNullable<R['record']> | undefined;
    }),
  );
}

/**
 * The record by its id: null where it is nowhere, or not the viewer's. Its attributes are looked up only if they are
 * wanted; otherwise it costs no more than the proof of access.
 */
export function byId<R extends ListedRef>(
  ref: R,
  wantsAttributes: boolean,
  ctx: Context,
): Loaded<R | null> {
  return ctx.reach.isPartner && !wantsAttributes
    ? { ...ref, open: true }
    : lookUp(ref, wantsAttributes, ctx);
}

async function lookUp<R extends ListedRef>(
  ref: R,
  wantsAttributes: boolean,
  ctx: Context,
): Promise<R | null> {
  try {
    const open = await isOpen(ref, ctx);
    if (open && !wantsAttributes) return { ...ref, open };
    const found = open ? await find(ref, ctx) : undefined;
    (found ? auditRead : auditDenial)(ref, ctx);
    return found ? { ...ref, open, record: found.row, ...parentIn(found.list) } : null;
  } catch (error) {
    // An argument is missing, or the look-up was cut: to the audit that is a denial as well.
    if (error instanceof NotFound) auditDenial(ref, ctx);
    throw error;
  }
}
