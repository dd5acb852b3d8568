import type { Place } from './cursor.ts';
import { firstOffsetOf, lastPageOf, PAGE_SIZE, pageOf, pagesBetween } from './page.ts';

/**
 * Rows come and go between two requests, and offsets move. A cursor remembers the ids on its row's page: this file says
 * where that row, the anchor, stands now, or where it would stand, and what to read to find out.
 */
export interface SeenIds {
  total(): number | undefined;
  pages(): readonly number[];
  page(page: number): { ids(): readonly number[] } | undefined;
}

/** What the pages read so far show of the remembered rows. */
export interface Sight {
  /** The anchor's offset. */
  readonly anchor?: number;
  /** The anchor stands here or behind: one past the last row seen of those that were before it. */
  readonly low?: number;
  /** The anchor stands before this: the first row seen of those that were behind it. */
  readonly high?: number;
}

export function sightOf(place: Place, seen: SeenIds): Sight {
  const index = place.offset % PAGE_SIZE;
  const anchorId = place.ids[index] ?? 0;
  const inPlace = seen.page(pageOf(place.offset))?.ids()[index];
  if (anchorId !== 0 && inPlace === anchorId) return { anchor: place.offset };

  let sight: Sight = {};
  for (const page of seen.pages()) {
    for (const [at, id] of seen.page(page)?.ids().entries() ?? []) {
      const was = id === 0 ? -1 : place.ids.indexOf(id);
      if (was === -1) continue;
      const offset = firstOffsetOf(page) + at;
      // A row without an id can't be found itself: it stands where it stood while a neighbour does.
      const unmoved = offset - was === place.offset - index;
      if (was === index || (anchorId === 0 && unmoved)) return { anchor: offset - was + index };
      sight =
        was < index
          ? { ...sight, low: Math.max(sight.low ?? 0, offset + 1) }
          : { ...sight, high: Math.min(sight.high ?? Infinity, offset) };
    }
  }
  return sight;
}

/** The pages to look at next for the anchor; none once it is found, known to be gone, or not worth doubting. */
export function pagesToSearch(place: Place, sight: Sight, seen: SeenIds): number[] {
  if (sight.anchor !== undefined || place.ids.every((id) => id === 0)) return [];
  const total = seen.total() ?? 0;
  const unread = (pages: readonly number[]) =>
    pages.filter((page) => page >= 1 && page <= lastPageOf(total) && seen.page(page) === undefined);

  if (sight.low !== undefined || sight.high !== undefined) return unread(pagesAround(sight));
  if (isTakenForUnchanged(place, seen)) return [];

  const own = pageOf(place.offset);
  const shifted = pageOf(Math.max(0, place.offset + total - place.total));
  for (const ring of rings(own, shifted, Math.max(own, lastPageOf(total)))) {
    const next = unread(ring);
    if (next.length > 0) return next;
  }
  return [];
}

/**
 * The same length, and the anchor's page not needed. One row added and another removed since then look just like that;
 * to tell, every page-aligned step of a walk would have to read one page more.
 */
const isTakenForUnchanged = (place: Place, seen: SeenIds): boolean =>
  seen.total() === place.total && seen.page(pageOf(place.offset)) === undefined;

/**
 * Between a row seen before the anchor and one seen behind it lies nothing else to read. With one of them only, a page
 * more on the other side: further off it could be only if ten rows and more had been added right between the two.
 */
function pagesAround({ low, high }: Sight): number[] {
  if (low === undefined) return high === undefined ? [] : [pageOf(high) - 1];
  const from = pageOf(low - 1);
  return pagesBetween(from, high === undefined ? from + 1 : pageOf(high));
}

/** Where the anchor stood, where it stands if all changes were before it, then outward, in the end over the whole list. */
function* rings(own: number, shifted: number, last: number): Generator<number[]> {
  yield [own];
  yield [shifted];
  for (let distance = 1; distance < last; distance += 1) yield [own - distance, own + distance];
}

/** Where the cursor cuts the list: the offset of the first row behind the cut. */
export function cutOf(place: Place, side: 'after' | 'before', sight: Sight, seen: SeenIds): number {
  // The anchor is gone; what is between its nearest neighbours was added since, so either side of it will do.
  const gap = sight.low ?? sight.high;
  if (sight.anchor === undefined && gap !== undefined) return gap;
  // Its whole page is gone: what came behind the page stands where the page began.
  const isLost = place.ids.some((id) => id !== 0) && !isTakenForUnchanged(place, seen);
  if (sight.anchor === undefined && isLost) return firstOffsetOf(pageOf(place.offset));
  const anchor = sight.anchor ?? place.offset;
  return side === 'after' ? anchor + 1 : anchor;
}
