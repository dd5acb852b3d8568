import type { Context } from '../../context.ts';
import { type Loaded, whenLoaded } from '../../loaded.ts';
import { NotFound } from '../errors.ts';
import type { ListedRef } from '../refs.ts';
import { auditDenial, auditRead } from './audit-reads.ts';
import { isOpen } from './prove.ts';

/** Reads what is inside a record, for viewers who may. For everyone else the record does not exist. */
export function requireAccess<R extends ListedRef, T>(
  ref: R,
  ctx: Context,
  read: (ref: R, ctx: Context) => Loaded<T>,
): Loaded<T> {
  if (ref.open) {
    auditRead(ref, ctx);
    return read(ref, ctx);
  }
  return whenLoaded(isOpen(ref, ctx), (open) => {
    if (!open) {
      auditDenial(ref, ctx);
      throw new NotFound();
    }
    auditRead(ref, ctx);
    return read(ref, ctx);
  });
}
