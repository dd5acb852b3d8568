import type { Context } from '../context.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import { isOpen } from './access.ts';
import { NotFound } from './not-found.ts';
import type { ListedRef } from './refs.ts';
import { missed, saw } from './shown.ts';

/** What lies inside a record, for those who may look inside: to everyone else it does not exist. */
export function opened<T>(ref: ListedRef, ctx: Context, inside: () => Loaded<T>): Loaded<T> {
  return whenLoaded(isOpen(ref, ctx), (open) => {
    if (!open) {
      missed(ref, ctx);
      throw new NotFound();
    }
    saw(ref, ctx);
    return inside();
  });
}
