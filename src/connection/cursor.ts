import { hash } from 'node:crypto';

import type { Page, Row } from '../page.ts';
import { PAGE_SIZE, firstOffsetOf, lastPageOf, pageOf, pagesBetween } from '../page.ts';
import type { Sealer } from '../sealed-text.ts';
import type { Connection } from './connection.ts';

/**
 * What a cursor holds. It is encrypted, since a filter with a date of birth could be guessed from the list's hash, and
 * authenticated, so that a forged offset can't start a search.
 */
export interface CursorPosition {
  /** Hash of the list's key, which holds its parent and filter. */
  readonly list: string;
  readonly offset: number;
  /** The list's length when the cursor was made. */
  readonly total: number;
  /**
   * Hashes of the ids on the row's page, in order; empty for a row without an id and past the last row. The cursor's own
   * row is at `offset % 10`; its neighbours show where it was once it is gone. Never more than its own page, which was
   * read in any case: the same row gets the same cursor, whichever other pages the operation read.
   */
  readonly ids: readonly string[];
}

export type CursorSealer = Sealer<CursorPosition>;

/** 42 bits: two rows have the same hash with a probability of one in four trillion. */
export const shortHash = (text: string): string => hash('sha256', text, 'base64url').slice(0, 7);

export function hashedIds(page: Pick<Page<Row>, 'rows' | 'hashes'>): readonly string[] {
  if (page.hashes) return page.hashes;
  const ids = Array<string>(PAGE_SIZE).fill('');
  for (const [index, row] of page.rows.entries()) if (row) ids[index] = shortHash(row.id);
  return (page.hashes = ids);
}

type ReadPages = Pick<Connection<Row>, 'pages' | 'total'>;

/**
 * The offset where the cursor divides the list: for `after`, that of the next row; for `before`, that of its own row.
 * Until that is known, the pages to read next. Rows are added and removed between two requests, so the cursor's row
 * (the anchor) is located by the ids that its page had, which the cursor holds, even if the row itself is gone.
 */
export function dividingOffset(cursor: CursorPosition, side: 'after' | 'before', read: ReadPages) {
  const atAnchor = (offset: number) => (side === 'after' ? offset + 1 : offset);
  const { exact, low, high } = anchorOffset(cursor, read);
  if (exact !== undefined) return atAnchor(exact);

  const { total = 0 } = read;
  const unread = (pages: readonly number[]) =>
    pages.filter((page) => page >= 1 && page <= lastPageOf(total) && !read.pages.has(page));
  const own = pageOf(cursor.offset);
  /** Where the anchor is if all changes were before it. */
  const shifted = pageOf(Math.max(0, cursor.offset + total - cursor.total));
  const gap = low ?? high;
  if (gap !== undefined) {
    const from = low === undefined ? pageOf(gap) - 1 : pageOf(low - 1);
    // If they are far from each other, many rows were added between them. Not all of those are read.
    const to = high === undefined ? from + 1 : Math.min(from + 3, pageOf(high));
    const between = unread(pagesBetween(from, to));
    // Only one neighbour was found, and ten or more rows may have been added right between it and the anchor.
    const isOneSided = low === undefined || high === undefined;
    const pages = between.length === 0 && isOneSided ? unread([shifted]) : between;
    // The anchor was removed. What is between its nearest neighbours was added since, so either end will do.
    return pages.length > 0 ? pages : gap;
  }
  // The total is the same, and the anchor's page is not needed. One row added and another removed since then can't be
  // told from no change; to detect it, every page-aligned step would have to read one more page.
  const isAssumedUnchanged = read.total === cursor.total && !read.pages.has(own);
  if (isAssumedUnchanged || cursor.ids.every((id) => id === '')) return atAnchor(cursor.offset);

  // Where the anchor was, where it may have shifted to, then up to three pages around both.
  const around = [1, 2, 3].flatMap((away) =>
    [own, shifted].map((page) => [page - away, page + away]),
  );
  const next = [[own], [shifted], ...around].map(unread);
  // All rows of its page were removed, or moved further: what followed them is where the page began.
  return next.find((pages) => pages.length > 0) ?? firstOffsetOf(own);
}

/**
 * The anchor's offset, as far as the pages read so far show it. It is at `low`, one past the last row found of those
 * before it, or later; and before `high`, the first row found of those after it.
 */
function anchorOffset(cursor: CursorPosition, read: ReadPages) {
  const index = cursor.offset % PAGE_SIZE;
  const anchorId = cursor.ids[index] ?? '';
  const own = read.pages.get(pageOf(cursor.offset));
  const idAtOffset = own && hashedIds(own)[index];
  if (anchorId !== '' && idAtOffset === anchorId) return { exact: cursor.offset };

  let low: number | undefined;
  let high: number | undefined;
  for (const [number, page] of read.pages) {
    for (const [at, id] of hashedIds(page).entries()) {
      const oldIndex = id === '' ? -1 : cursor.ids.indexOf(id);
      if (oldIndex === -1) continue;
      const offset = firstOffsetOf(number) + at;
      // A row without an id can't be found itself; it is taken to be where it was if a neighbour is.
      const hasNotMoved = offset - oldIndex === cursor.offset - index;
      if (oldIndex === index || (anchorId === '' && hasNotMoved))
        return { exact: offset - oldIndex + index };
      if (oldIndex < index) low = Math.max(low ?? 0, offset + 1);
      else high = Math.min(high ?? Infinity, offset);
    }
  }
  return { low, high };
}

/** When the cursor's page was requested, if it has other rows than it had at the same length of the list; otherwise 0. */
export function changeSeenAt(cursor: CursorPosition | undefined, read: ReadPages): number {
  const page = cursor && read.pages.get(pageOf(cursor.offset));
  if (!page || page.total !== cursor.total) return 0;
  const ids = hashedIds(page);
  return cursor.ids.some((id, at) => id !== ids[at]) ? (page.requestedAt ?? 0) : 0;
}
