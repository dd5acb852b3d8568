import { pageOf, pagesBetween } from '../page.ts';
import type { WindowRequest } from './window-args.ts';

/** The rows from offset `start` up to, not including, `end`. */
export interface Window {
  readonly start: number;
  readonly end: number;
}

/** What a field needs of a window: all its rows, its first and last cursor, or only its offsets. */
export type Need = 'rows' | 'cursors' | 'offsets';

/** The offsets between the two cursors: from `low`, which is included, to `high`, which is not. */
export interface Bounds {
  readonly low: number;
  readonly high: number;
}

export function windowOf({ from, count }: WindowRequest, bounds: Bounds, total: number): Window {
  const low = Math.min(bounds.low, total);
  const high = Math.max(low, Math.min(bounds.high, total));
  return from === 'first'
    ? { start: low, end: Math.min(low + count, high) }
    : { start: Math.max(low, high - count), end: high };
}

export function pagesTouched({ start, end }: Window): number[] {
  return start < end ? pagesBetween(pageOf(start), pageOf(end - 1)) : [];
}

export function pagesNeeded(window: Window, need: Need): number[] {
  if (need === 'offsets') return [];
  const touched = pagesTouched(window);
  return need === 'rows'
    ? touched
    : touched.filter((_, index) => index === 0 || index === touched.length - 1);
}

/** The pages to read first, when only the cursors' totals, or else the total of an earlier answer (`hint`), are known. */
export function firstPagesToRead(request: WindowRequest, need: Need, hint?: number): number[] {
  const { after, before } = request;
  const total = expectedTotal(request, hint);
  if (total === undefined) return [1];

  const bounds = { low: after ? after.offset + 1 : 0, high: before ? before.offset : total };
  const window = windowOf(request, bounds, total);
  // Empty, but that may have changed: the page with the cursor's own row shows it.
  if (window.start === window.end) return [pageOf((after ?? before)?.offset ?? 0)];
  if (need !== 'offsets') return pagesNeeded(window, need);
  // Any page has the total. This one is next to the cursor, if there is one, and shows whether rows moved.
  return [pageOf(request.from === 'first' ? window.start : window.end - 1)];
}

/** A cursor's total is from when the client read that page; a hint may be of any age. */
function expectedTotal({ after, before }: WindowRequest, hint: number | undefined) {
  if (after === undefined && before === undefined) return hint;
  return Math.min(after?.total ?? Infinity, before?.total ?? Infinity);
}
