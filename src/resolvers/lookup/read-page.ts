import type { Context } from '../../context.ts';
import { type Loaded, whenLoaded } from '../../loaded.ts';
import type { ListName, ListRef, RecordOf } from '../../rest/lists.ts';
import type { Page } from '../../page.ts';

/** Pages whose rows have been recorded: a cached page is shared by all who read it, and no newer for that. */
const recorded = new WeakSet<object>();

/** One page of a list. Who is on it is recorded as proof, and the places of clients as hints for later look-ups. */
export function readPage<N extends ListName>(
  list: ListRef<N>,
  page: number,
  ctx: Context,
  options?: { readonly fresh?: boolean },
): Loaded<Page<RecordOf<N>>> {
  return whenLoaded(ctx.loaders.page(list, page, options), (loaded) => {
    ctx.seenPages.set(loaded, list);
    if (recorded.has(loaded)) return loaded;
    recorded.add(loaded);
    ctx.recentLists.record(list, loaded);
    recordPlaces(list, loaded, ctx);
    return loaded;
  });
}

/** A filtered list's pages are not the list's own: of those only the membership is worth remembering. */
function recordPlaces(list: ListRef, { rows, page }: Page<{ readonly id: string }>, ctx: Context) {
  const { name, id, filter } = list;
  if (!id || (name !== 'clientsOfClinic' && name !== 'clientsOfClinician')) return;
  const place = {
    kind: name === 'clientsOfClinic' ? ('clinic' as const) : ('clinician' as const),
    id,
    page: filter ? undefined : page,
  };
  for (const row of rows) if (row) ctx.places.record(row.id, place);
}
