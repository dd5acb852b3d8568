import { pageOf, pagesBetween } from './page.ts';
import type { WindowRequest } from './window-args.ts';

/** The rows from offset `start` up to, not including, `end`. */
export interface Window {
  readonly start: number;
  readonly end: number;
}

/** What a reader wants of a window: all its rows, the cursors at its ends, or only where it lies. */
export type Need = 'rows' | 'ends' | 'place';

/** Where the cursors cut the list: rows from `low` on are after the one, rows below `high` before the other. */
export interface Cuts {
  readonly low: number;
  readonly high: number;
}

export function windowOf({ from, count }: WindowRequest, cuts: Cuts, total: number): Window {
  const low = Math.min(cuts.low, total);
  const high = Math.max(low, Math.min(cuts.high, total));
  return from === 'first'
    ? { start: low, end: Math.min(low + count, high) }
    : { start: Math.max(low, high - count), end: high };
}

export function pagesTouched({ start, end }: Window): number[] {
  return start < end ? pagesBetween(pageOf(start), pageOf(end - 1)) : [];
}

export function pagesNeeded(window: Window, need: Need): number[] {
  const touched = pagesTouched(window);
  if (need === 'rows') return touched;
  return need === 'ends' ? touched.filter((_, at) => at === 0 || at === touched.length - 1) : [];
}

/** The pages to read before anything is known but what the cursors, or else an earlier answer (`hint`), say. */
export function pagesToBegin(request: WindowRequest, need: Need, hint?: number): number[] {
  const { after, before } = request;
  const total = expectedTotal(request, hint);
  if (total === undefined) return [1];

  const cuts = { low: after ? after.offset + 1 : 0, high: before ? before.offset : total };
  const window = windowOf(request, cuts, total);
  // Nothing to show; but whether that is still so must be asked, of the page where the cursor's own row can be seen.
  if (window.start === window.end) return [pageOf((after ?? before)?.offset ?? 0)];
  if (need !== 'place') return pagesNeeded(window, need);
  // One page tells where the window lies, and this one lies beside the cursor, if there is one.
  return [pageOf(request.from === 'first' ? window.start : window.end - 1)];
}

/** A cursor's total was true when its row was there, and costs nothing if it still is; a hint may be of any age. */
function expectedTotal({ after, before }: WindowRequest, hint: number | undefined) {
  if (after === undefined && before === undefined) return hint;
  return Math.min(after?.total ?? Infinity, before?.total ?? Infinity);
}
