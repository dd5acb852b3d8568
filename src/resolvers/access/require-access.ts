import type { Context } from '../../context.ts';
import { type Loaded, whenLoaded } from '../../loaded.ts';
import { NotFound } from '../not-found.ts';
import type { ListedRef } from '../refs.ts';
import { missed, saw } from './audit-reads.ts';
import { isOpen } from './prove.ts';

/** What is inside a record, for those who may read it: to everyone else it does not exist. */
export function requireAccess<T>(ref: ListedRef, ctx: Context, inside: () => Loaded<T>): Loaded<T> {
  return whenLoaded(ref.open || isOpen(ref, ctx), (open) => {
    if (!open) {
      missed(ref, ctx);
      throw new NotFound();
    }
    saw(ref, ctx);
    return inside();
  });
}
