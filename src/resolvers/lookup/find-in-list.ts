import { PAGE_SIZE, type Page, firstOffsetOf, pagesBetween } from '../../page.ts';
import type { Context } from '../../context.ts';
import { type Loaded, whenLoaded } from '../../loaded.ts';
import { type ListName, type ListRef, type RecordOf, cachePathOf } from '../../rest/lists.ts';
import { NotFound, hasCode } from '../../errors.ts';
import { auditNameOf } from '../access/audit-reads.ts';
import { LISTS, type ListedRef, type RowOf, kindOf } from '../refs.ts';

/** The refs of a page's rows. They depend on the list and the page only, so all operations share them. */
const pagesOfRefs = new WeakMap<object, Page<ListedRef>>();

/** One page of a list. Its rows are recorded as proof, and the places of clients as hints for later look-ups. */
export function loadListPage<N extends ListName>(
  list: ListRef<N>,
  number: number,
  ctx: Context,
  since?: number,
): Loaded<Page<RowOf<N>>> {
  return whenLoaded(ctx.loaders.page(list, number, since), (page) => {
    const known = pagesOfRefs.get(page);
    const refs = known ?? refsOf(list, page);
    ctx.seenPages.add(refs);
    if (!known) {
      pagesOfRefs.set(page, refs);
      ctx.recentLists.record(list, page);
      ctx.places.record(list, page);
    }
    return refs as Page<RowOf<N>>;
  });
}

function refsOf(list: ListRef, page: Page<RecordOf<ListName>>): Page<ListedRef> {
  const { row: type, parent } = { parent: undefined, ...LISTS[list.name] };
  const parents = parent && { [`${kindOf(parent)}Id`]: list.id };
  const rows = page.rows.map((record) => {
    const auditName = record && auditNameOf(type, record.id);
    return record && { type, id: record.id, record, open: true, auditName, ...parents };
  });
  return { ...page, rows: rows as ListedRef[] };
}

/** Pages of one list that are read in parallel: enough to be quick, few enough to stop early. */
const PAGES_AT_A_TIME = 4;

/** How many pages one look-up may still request; undefined where only the operation's own limit counts. */
export interface LookupBudget {
  pagesLeft: number;
  /** Named in the error when the look-up is cut. */
  readonly argument: string;
}

export interface FindOptions {
  /** Where the row was last seen. */
  readonly page?: number | undefined;
  readonly budget?: LookupBudget | undefined;
  /**
   * Events of all clients are looked up in the lists of each viewer. So a list that was read through within the last
   * minute without the row is not read again, if a page that was asked for after this time shows the same length.
   */
  readonly absentSince?: number;
}

/** The row with this id, searched from the page where it was last seen; undefined if it is not in the list. */
export async function findInList<N extends ListName>(
  list: ListRef<N>,
  id: string,
  ctx: Context,
  options: FindOptions = {},
): Promise<RowOf<N> | undefined> {
  // Cached pages may be older than an event that contradicts them.
  if (ctx.recentLists.isDoubtful(list, id)) ctx.partner.invalidate([cachePathOf(list)]);
  let row = await scan(list, id, ctx, options);
  if (row === CHANGED) row = await scan(list, id, ctx, options, ctx.recentLists.now());
  if (row !== undefined && row !== CHANGED) return row;
  ctx.recentLists.remove(list, id);
  ctx.places.remove(list, id);
  return undefined;
}

/** The pages differ in the list's length: a row may have moved from one that was not read yet to one that was. */
const CHANGED = 'changed';

/** Events that come together share a page that was read for one of them: not every event may cost a call. */
const SHARED_MS = 250;

async function scan<N extends ListName>(
  list: ListRef<N>,
  id: string,
  ctx: Context,
  { page: start = 1, budget, absentSince }: FindOptions,
  since?: number,
): Promise<RowOf<N> | typeof CHANGED | undefined> {
  const began = ctx.recentLists.now();
  const load = (page: number, after = since) => pageIfThere(list, page, ctx, budget, after);
  const rowIn = (pages: readonly (Page<RowOf<N>> | undefined)[]) =>
    pages.flatMap((page) => page?.rows ?? []).find((row) => row?.id === id);
  let first = (await load(start)) ?? (start > 1 ? await load(1) : undefined);
  const { askedAt = began } = first ?? {};
  const isOld = askedAt < (absentSince ?? 0) && askedAt < began - SHARED_MS;
  if (first && isOld && !rowIn([first])) {
    first = (await load(first.page, absentSince)) ?? (await load(1, absentSince));
  }
  if (!first) return undefined;
  const here = rowIn([first]);
  if (here) return here;
  const { total, page } = first;
  if (absentSince !== undefined && ctx.recentLists.isAbsent(list, id, total)) return undefined;
  // Nearest first: rows move by a few places, not by many.
  const rest = pagesBetween(1, Math.ceil(total / PAGE_SIZE))
    .filter((each) => each !== page)
    .toSorted((a, b) => Math.abs(a - page) - Math.abs(b - page));
  let isChanged = false;
  for (let at = 0; at < rest.length;) {
    // Limited by the budget: a call in flight when the look-up is cut would be wasted.
    const size = Math.max(1, Math.min(PAGES_AT_A_TIME, budget?.pagesLeft ?? PAGES_AT_A_TIME));
    const reads = rest.slice(at, at + size).map((each) => load(each));
    at += size;
    // Awaits all, even if one fails: a call that is not awaited would be counted too late.
    await Promise.allSettled(reads);
    const pages = await Promise.all(reads);
    const row = rowIn(pages);
    if (row) return row;
    isChanged ||= pages.some((each) => each?.total !== total);
  }
  if (isChanged && since === undefined) return CHANGED;
  if (!isChanged) ctx.recentLists.recordReadThrough(list, total, began);
  return undefined;
}

/** Every row of a list, page by page. */
export async function* everyRow<N extends ListName>(
  list: ListRef<N>,
  ctx: Context,
  budget?: LookupBudget,
): AsyncGenerator<RowOf<N>> {
  for (let page = 1, total = 1; firstOffsetOf(page) < total; page += 1) {
    const read = await pageIfThere(list, page, ctx, budget);
    total = read?.total ?? 0;
    for (const row of read?.rows ?? []) if (row) yield row;
  }
}

/** Undefined if the parent is gone, or the list became shorter than this page. */
async function pageIfThere<N extends ListName>(
  list: ListRef<N>,
  page: number,
  ctx: Context,
  budget: LookupBudget | undefined,
  since?: number,
) {
  if (budget && budget.pagesLeft <= 0) {
    throw new NotFound(
      `The record was not found within ${ctx.lookupMaxCalls} calls to the Partner API: add ${budget.argument} to say where it is.`,
    );
  }
  try {
    const read = loadListPage(list, page, ctx, since);
    // A cached page costs no call.
    if (budget && read instanceof Promise) budget.pagesLeft -= 1;
    return await read;
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}
