import { firstOffsetOf, PAGE_SIZE } from '../connection/page.ts';
import type { Context } from '../context.ts';
import type { ListName, ListRef, RecordOf } from '../rest/lists.ts';
import type { LinkEnds } from '../store/lineage-store.ts';
import { hasCode } from '../has-code.ts';
import { readPage } from './pages.ts';

/**
 * The Partner API has no get-by-id for what stands in lists, so a record known by id alone is looked for,
 * cheapest first: what this operation has read, then the lists that likely hold it (named by the caller or
 * remembered by the lineage, on the page where it stood), then every list that could. The operation's budget of
 * calls bounds it.
 */

/** Pages of one list read side by side: enough to be quick, few enough to stop early. */
const PAGES_AT_A_TIME = 4;

export interface Candidate<N extends ListName = ListName> {
  readonly list: ListRef<N>;
  /** Where it stood when it was last seen. */
  readonly page?: number | undefined;
  /** By what the lineage remembers it: forgotten if the list does not hold the record any more. */
  readonly link?: LinkEnds;
}

export interface Found<N extends ListName> {
  readonly row: RecordOf<N>;
  readonly list: ListRef<N>;
}

/** The row with this id in the first of the lists that holds it. */
export async function findInLists<N extends ListName>(
  names: readonly N[],
  id: string,
  likely: readonly Candidate<N>[],
  others: () => AsyncIterable<ListRef<N>>,
  ctx: Context,
): Promise<Found<N> | undefined> {
  const seen = findInSeenPages(names, id, ctx);
  if (seen) return seen;
  const tried = new Set<string>();
  for (const candidate of cheapestFirst(likely, ctx)) {
    tried.add(`${candidate.list.name}:${candidate.list.id}`);
    const row = await findInList(candidate, id, ctx);
    if (row) return { row, list: candidate.list };
    if (candidate.link) ctx.lineage().remove([candidate.link]);
  }
  for await (const list of others()) {
    if (tried.has(`${list.name}:${list.id}`)) continue;
    const row = await findInList({ list }, id, ctx);
    if (row) return { row, list };
  }
  return undefined;
}

/** The row with this id, looked for from where it last stood; undefined once the whole list was read. */
export async function findInList<N extends ListName>(
  { list, page: hint = 1 }: Candidate<N>,
  id: string,
  ctx: Context,
): Promise<RecordOf<N> | undefined> {
  const first =
    (await pageIfThere(list, hint, ctx)) ??
    (hint > 1 ? await pageIfThere(list, 1, ctx) : undefined);
  if (!first) return undefined;
  const here = rowOf(first.rows, id);
  if (here) return here;
  const rest = pagesFrom(Math.ceil(first.total / PAGE_SIZE), first.page);
  for (let at = 0; at < rest.length; at += PAGES_AT_A_TIME) {
    const some = rest.slice(at, at + PAGES_AT_A_TIME);
    const pages = await Promise.all(some.map(async (page) => pageIfThere(list, page, ctx)));
    const row = rowOf(
      pages.flatMap((page) => page?.rows ?? []),
      id,
    );
    if (row) return row;
  }
  return undefined;
}

/** Every row of a list, page by page. */
export async function* everyRow<N extends ListName>(
  list: ListRef<N>,
  ctx: Context,
): AsyncGenerator<RecordOf<N>> {
  for (let page = 1, total = 1; firstOffsetOf(page) < total; page += 1) {
    const read = await pageIfThere(list, page, ctx);
    total = read?.total ?? 0;
    for (const row of read?.rows ?? []) if (row) yield row;
  }
}

/** A parent that is gone holds nothing; past the end of a list that got shorter there may be no page either. */
export async function pageIfThere<N extends ListName>(
  list: ListRef<N>,
  page: number,
  ctx: Context,
) {
  try {
    return await readPage(list, page, ctx);
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return undefined;
    throw error;
  }
}

function rowOf<R extends { readonly id: string }>(
  rows: readonly (R | undefined)[],
  id: string,
): R | undefined {
  return rows.find((row) => row?.id === id);
}

function findInSeenPages<N extends ListName>(
  names: readonly N[],
  id: string,
  ctx: Context,
): Found<N> | undefined {
  for (const [page, list] of ctx.seenPages) {
    if (!(names as readonly ListName[]).includes(list.name)) continue;
    const row = rowOf(page.rows as readonly (RecordOf<N> | undefined)[], id);
    if (row) return { row, list: list as ListRef<N> };
  }
  return undefined;
}

/** Known pages before whole lists, short lists before long ones. */
function cheapestFirst<N extends ListName>(
  candidates: readonly Candidate<N>[],
  ctx: Context,
): readonly Candidate<N>[] {
  const price = ({ list, page }: Candidate<N>) =>
    page ? 1 : 1 + (ctx.loaders.totalOf(list) ?? 1_000);
  return candidates.toSorted((a, b) => price(a) - price(b));
}

/** The other pages, nearest to `from` first: rows move by a few places, not by many. */
function pagesFrom(count: number, from: number): readonly number[] {
  const others = Array.from({ length: count }, (_, index) => index + 1).filter((p) => p !== from);
  return others.toSorted((a, b) => Math.abs(a - from) - Math.abs(b - from));
}
