import type { Page } from '../connection/page.ts';
import type { Context } from '../context.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import type { ListName, ListRef, RecordOf } from '../rest/lists.ts';
import type { Link } from '../store/lineage-store.ts';
import { LINK_PROVES_FOR_MS } from '../viewer/link-age.ts';

/** Which lists say what lies under what. The other two hold records whose ids name their list anyway. */
const relations: Partial<Record<ListName, { readonly child: string; readonly parent: string }>> = {
  clinicsOfOrganization: { child: 'clinic', parent: 'organization' },
  programsOfOrganization: { child: 'program', parent: 'organization' },
  cliniciansOfClinic: { child: 'clinician', parent: 'clinic' },
  clientsOfClinic: { child: 'client', parent: 'clinic' },
  clientsOfClinician: { child: 'client', parent: 'clinician' },
  sessionsOfClient: { child: 'session', parent: 'client' },
  programsOfClient: { child: 'program', parent: 'client' },
};

/** A page is shared by all who read it: its links are recorded once. */
const recorded = new WeakSet<object>();

/** One page of a list; what its rows say about who lies under whom is remembered on the way. */
export function readPage<N extends ListName>(
  list: ListRef<N>,
  page: number,
  ctx: Context,
  options?: { readonly fresh?: boolean },
): Loaded<Page<RecordOf<N>>> {
  return whenLoaded(ctx.loaders.page(list, page, options), (loaded) => {
    ctx.seenPages.set(loaded, list);
    if (!recorded.has(loaded)) {
      recorded.add(loaded);
      ctx.remember(linksOf(list, loaded, ctx.now()));
    }
    return loaded;
  });
}

function linksOf(list: ListRef, page: Page<{ readonly id: string }>, seenAt: number): Link[] {
  const relation = relations[list.name];
  if (!relation || !list.id) return [];
  const links: Link[] = [];
  for (const row of page.rows) {
    if (!row) continue;
    const child = `${relation.child}:${row.id}`;
    const parent = `${relation.parent}:${list.id}`;
    // A filtered list's pages are not the list's own, so only the membership is worth remembering.
    links.push(
      list.filter ? { child, parent, seenAt } : { child, parent, page: page.page, seenAt },
    );
    if (list.filter?.['clinicianId']) {
      // Only the Partner API's word for its filter: enough to look there, not to open anything.
      const tooOld = seenAt - LINK_PROVES_FOR_MS;
      links.push({ child, parent: `clinician:${list.filter['clinicianId']}`, seenAt: tooOld });
    }
  }
  return links;
}
