import type { CursorCodec } from './cursor.ts';
import { BadWindow } from './errors.ts';
import { PAGE_SIZE } from './page.ts';
import { countIssues, readWindowArgs, sizeOf, type WindowArgs } from './window-args.ts';
import { pagesToBegin, type Need } from './window.ts';

/** Which members of a connection are asked for. */
export interface Asked {
  /** `edges` or `nodes`. */
  readonly rows: boolean;
  /** `startCursor` or `endCursor`. */
  readonly ends: boolean;
  /** `totalCount`, `hasNextPage` or `hasPreviousPage`. */
  readonly totals: boolean;
}

/**
 * The most pages a window can read while the list stands still, from the arguments alone. A window that will be refused
 * reads none. Without a codec a cursor may be anywhere on its page.
 */
export function pagesOfWindow(args: WindowArgs, asked: Asked, codec?: CursorCodec): number {
  const need = needOf(asked);
  if (need === undefined || countIssues(args).length > 0) return 0;
  const hasCursor = typeof args.after === 'string' || typeof args.before === 'string';
  if (hasCursor && codec !== undefined) return pagesAtCursor(args, need, codec);
  if (need === 'place') return 1;

  const { from, count } = sizeOf(args);
  // At the head a window begins with a page. At the tail, as behind a cursor, it may begin with a page's last row.
  const isAligned = from === 'first' && !hasCursor;
  const touched = Math.ceil((count + (isAligned ? 0 : PAGE_SIZE - 1)) / PAGE_SIZE);
  const pages = need === 'ends' ? Math.min(2, touched) : touched;
  // Where the tail is, page one has to tell.
  return from === 'last' && !hasCursor ? pages + 1 : pages;
}

function needOf({ rows, ends, totals }: Asked): Need | undefined {
  if (rows) return 'rows';
  if (ends) return 'ends';
  return totals ? 'place' : undefined;
}

function pagesAtCursor(args: WindowArgs, need: Need, codec: CursorCodec): number {
  try {
    return pagesToBegin(readWindowArgs(args, codec), need).length;
  } catch (error) {
    if (error instanceof BadWindow) return 0;
    throw error;
  }
}
