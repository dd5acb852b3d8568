import { PAGE_SIZE } from '../page.ts';
import type { CursorCodec } from './cursor.ts';
import { BadWindow, countIssues, readWindowArgs, sizeOf, type WindowArgs } from './window-args.ts';
import { firstPagesToRead, type Need } from './window.ts';

/** Which fields of a connection are selected. */
export interface Asked {
  /** `edges` or `nodes`. */
  readonly rows: boolean;
  /** `startCursor` or `endCursor`. */
  readonly ends: boolean;
  /** `totalCount`, `hasNextPage` or `hasPreviousPage`. */
  readonly totals: boolean;
}

/** The most pages that a window can read while the list does not change. Invalid arguments read none. */
export function pagesOfWindow(args: WindowArgs, asked: Asked, codec: CursorCodec): number {
  const need = needOf(asked);
  if (need === undefined || countIssues(args).length > 0) return 0;
  if (typeof args.after === 'string' || typeof args.before === 'string')
    return pagesAtCursor(args, need, codec);
  if (need === 'offsets') return 1;

  const { from, count } = sizeOf(args);
  // From the head a window starts with a page. At the tail it may start with a page's last row.
  const rows = from === 'first' ? count : count + PAGE_SIZE - 1;
  const touched = Math.ceil(rows / PAGE_SIZE);
  const pages = need === 'cursors' ? Math.min(2, touched) : touched;
  // Page one has to be read first to learn where the tail is.
  return from === 'last' ? pages + 1 : pages;
}

function needOf({ rows, ends, totals }: Asked): Need | undefined {
  if (rows) return 'rows';
  if (ends) return 'cursors';
  return totals ? 'offsets' : undefined;
}

function pagesAtCursor(args: WindowArgs, need: Need, codec: CursorCodec): number {
  try {
    return firstPagesToRead(readWindowArgs(args, codec), need).length;
  } catch (error) {
    if (error instanceof BadWindow) return 0;
    throw error;
  }
}
