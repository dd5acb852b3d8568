import { PAGE_SIZE, firstOffsetOf, lastPageOf, pageOf, pagesBetween } from '../page.ts';
import type { CursorPosition } from './cursor.ts';
import type { PageReader } from './page-reader.ts';

/**
 * Rows are added and removed between two requests, and offsets move. A cursor holds the ids on its row's page. This file
 * computes where that row, the anchor, is now, or where it would be if it were still there, and what to read to find out.
 */
type ReadPages = Pick<PageReader<unknown>, 'total' | 'pages' | 'page'>;

/** The anchor's offset, as far as the pages read so far show it. */
interface AnchorOffset {
  readonly exact?: number;
  /** The anchor is here or later: one past the last row found of those before it. */
  readonly low?: number;
  /** The anchor is before this: the first row found of those behind it. */
  readonly high?: number;
}

/**
 * The offset where the cursor divides the list: of the first row after it, or, for `before`, of its own row. While
 * that is not known: the pages to search next.
 */
export function dividingOffset(
  cursor: CursorPosition,
  side: 'after' | 'before',
  read: ReadPages,
): { readonly offset: number } | { readonly search: readonly number[] } {
  const anchor = anchorOffset(cursor, read);
  const search = pagesToSearch(cursor, anchor, read);
  return search.length > 0 ? { search } : { offset: offsetAt(cursor, side, anchor, read) };
}

function anchorOffset(cursor: CursorPosition, read: ReadPages): AnchorOffset {
  const index = cursor.offset % PAGE_SIZE;
  const anchorId = cursor.ids[index] ?? 0;
  const idAtOffset = read.page(pageOf(cursor.offset))?.ids()[index];
  if (anchorId !== 0 && idAtOffset === anchorId) return { exact: cursor.offset };

  let [low, high]: [number?, number?] = [];
  for (const page of read.pages()) {
    for (const [at, id] of read.page(page)?.ids().entries() ?? []) {
      const oldIndex = id === 0 ? -1 : cursor.ids.indexOf(id);
      if (oldIndex === -1) continue;
      const offset = firstOffsetOf(page) + at;
      // A row without an id can't be found itself; it is taken to be where it was if a neighbour is.
      const hasNotMoved = offset - oldIndex === cursor.offset - index;
      if (oldIndex === index || (anchorId === 0 && hasNotMoved))
        return { exact: offset - oldIndex + index };
      if (oldIndex < index) low = Math.max(low ?? 0, offset + 1);
      else high = Math.min(high ?? Infinity, offset);
    }
  }
  return { ...(low !== undefined && { low }), ...(high !== undefined && { high }) };
}

/** None once the anchor is found, known to be removed, or assumed not to have moved. */
function pagesToSearch(cursor: CursorPosition, anchor: AnchorOffset, read: ReadPages): number[] {
  if (anchor.exact !== undefined || cursor.ids.every((id) => id === 0)) return [];
  const total = read.total() ?? 0;
  const unread = (pages: readonly number[]) =>
    pages.filter((page) => page >= 1 && page <= lastPageOf(total) && read.page(page) === undefined);

  if (anchor.low !== undefined || anchor.high !== undefined) return unread(pagesAround(anchor));
  if (isAssumedUnchanged(cursor, read)) return [];

  const own = pageOf(cursor.offset);
  const shifted = pageOf(Math.max(0, cursor.offset + total - cursor.total));
  for (const pages of searchOrder(own, shifted, Math.max(own, lastPageOf(total)))) {
    const next = unread(pages);
    if (next.length > 0) return next;
  }
  return [];
}

/**
 * The total is the same, and the anchor's page is not needed. One row added and another removed since then can't be
 * told from no change; to detect it, every page-aligned step would have to read one more page.
 */
const isAssumedUnchanged = (cursor: CursorPosition, read: ReadPages): boolean =>
  read.total() === cursor.total && read.page(pageOf(cursor.offset)) === undefined;

/**
 * The pages between a row found before the anchor and one found behind it. With only one of them, one page more on
 * the other side: the anchor is further away only if ten or more rows were added right between the two.
 */
function pagesAround({ low, high }: AnchorOffset): number[] {
  if (low === undefined) return high === undefined ? [] : [pageOf(high) - 1];
  const from = pageOf(low - 1);
  return pagesBetween(from, high === undefined ? from + 1 : pageOf(high));
}

/** Where the anchor was, where it is if all changes were before it, then outward, at last over the whole list. */
function* searchOrder(own: number, shifted: number, last: number): Generator<number[]> {
  yield [own];
  yield [shifted];
  for (let distance = 1; distance < last; distance += 1) yield [own - distance, own + distance];
}

function offsetAt(
  cursor: CursorPosition,
  side: 'after' | 'before',
  { exact, low, high }: AnchorOffset,
  read: ReadPages,
): number {
  if (exact === undefined) {
    // The anchor was removed. What is between its nearest neighbours was added since, so either end will do.
    const gap = low ?? high;
    if (gap !== undefined) return gap;
    // All rows of its page were removed: what followed them is where the page began.
    const isRemoved = cursor.ids.some((id) => id !== 0) && !isAssumedUnchanged(cursor, read);
    if (isRemoved) return firstOffsetOf(pageOf(cursor.offset));
  }
  const anchor = exact ?? cursor.offset;
  return side === 'after' ? anchor + 1 : anchor;
}
