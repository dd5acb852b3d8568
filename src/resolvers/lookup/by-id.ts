import type { Context } from '../../context.ts';
import { type Loaded, whenLoaded } from '../../loaded.ts';
import { auditDenial, auditRead } from '../access/audit-reads.ts';
import { isOpen } from '../access/prove.ts';
import { NotFound } from '../errors.ts';
import type { ListedRef, NodeRef } from '../refs.ts';
import { find } from './find.ts';

type RecordOf<R extends NodeRef> = NonNullable<R['record']>;

/** A record's attributes; undefined if it is nowhere, or not open to the viewer. */
function recordOf(ref: ListedRef, ctx: Context): Loaded<ListedRef['record']> {
  return whenLoaded(ref.open || isOpen(ref, ctx), (open) =>
    whenLoaded(open ? find(ref, ctx) : undefined, (found) => {
      (found ? auditRead : auditDenial)(ref, ctx);
      return found?.record;
    }),
  );
}

/** Resolves an attribute of a record that may be known by id alone. In that case the record is looked up. */
export function attribute<R extends NodeRef, K extends keyof RecordOf<R>>(name: K) {
  return (ref: R, _args: unknown, ctx: Context): Loaded<RecordOf<R>[K] | null> =>
    ref.record && ref.open
      ? (ref.record as RecordOf<R>)[name]
      : whenLoaded(
          recordOf(ref as ListedRef, ctx),
          (record) => (record as RecordOf<R> | undefined)?.[name] ?? null,
        );
}

/**
 * The record by its id: null where it is nowhere, or not the viewer's. Its attributes are looked up only if they are
 * wanted; otherwise it costs no more than the proof of access.
 */
export async function byId<R extends ListedRef>(
  ref: R,
  wantsAttributes: boolean,
  ctx: Context,
): Promise<R | null> {
  try {
    const open = await isOpen(ref, ctx);
    if (open && !wantsAttributes) return { ...ref, open };
    const found = open ? await find(ref, ctx) : undefined;
    (found ? auditRead : auditDenial)(ref, ctx);
    return (found as R | undefined) ?? null;
  } catch (error) {
    // An argument is missing, or the look-up was cut: to the audit that is a denial as well.
    if (error instanceof NotFound) auditDenial(ref, ctx);
    throw error;
  }
}
