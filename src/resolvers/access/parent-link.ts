import type { Context } from '../../context.ts';
import { type Loaded, whenLoaded } from '../../loaded.ts';
import type { ListedRef } from '../refs.ts';
import { missed } from './audit-reads.ts';
import { isOpen } from './prove.ts';

/**
 * What a record lies under, for whoever may read the record or has come up to it from one. To everyone else it lies
 * nowhere: an id that somebody made up must not tell whose record it is.
 */
export function parentLink<T>(
  ref: ListedRef,
  ctx: Context,
  parent: () => Loaded<T | null>,
): Loaded<T | null> {
  if (ref.above) return parent();
  return whenLoaded(isOpen(ref, ctx), (open) => {
    if (open) return parent();
    missed(ref, ctx);
    return null;
  });
}
