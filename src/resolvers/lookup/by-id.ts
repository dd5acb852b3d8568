import type { Context, FoundRow } from '../../context.ts';
import { type Loaded, whenLoaded } from '../../loaded.ts';
import { missed, saw } from '../access/audit-reads.ts';
import { isOpen } from '../access/prove.ts';
import { NotFound } from '../not-found.ts';
import type { ListedRef } from '../refs.ts';
import { find } from './find.ts';

/** A record's attributes; undefined if it is nowhere, or not open to the viewer. */
export function recordOf<R extends ListedRef>(
  ref: R,
  ctx: Context,
): Loaded<NonNullable<R['record']> | undefined> {
  if (ref.record && ref.open) return ref.record;
  return whenLoaded(ref.open || isOpen(ref, ctx), (open) =>
    whenLoaded(open ? find(ref, ctx) : undefined, (found) => {
      (found ? saw : missed)(ref, ctx);
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
  if (ctx.reach.isPartner && !wantsAttributes) return { ...ref, open: true };
  return lookUp(ref, wantsAttributes, ctx);
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
    (found ? saw : missed)(ref, ctx);
    return found ? { ...ref, open, record: found.row, ...parentIn(found) } : null;
  } catch (error) {
    // An argument is missing, or the look-up was cut: to the audit that is a denial as well.
    if (error instanceof NotFound) missed(ref, ctx);
    throw error;
  }
}

/** What the list that holds the record says about where it lies. */
function parentIn({ list: { name, id } }: FoundRow) {
  if (name === 'sessionsOfClient') return { clientId: id };
  if (name === 'clientsOfClinic' || name === 'cliniciansOfClinic') return { clinicId: id };
  if (name === 'clientsOfClinician') return { clinicianId: id };
  return name === 'clinicsOfOrganization' ? { organizationId: id } : {};
}
