import { BadInput } from '../errors.ts';
import { PAGE_SIZE, pageOf, pagesBetween } from '../page.ts';
import { type CursorSealer, shortHash } from './cursor.ts';

export interface WindowArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

export type WindowRequest = Readonly<ReturnType<typeof parseWindowArgs>>;

const MAX_ROWS = 100;
const DEFAULT_ROWS = 10;

/** Decodes the cursors. Throws `BadInput` with every problem. */
export function parseWindowArgs(args: WindowArgs, cursors: CursorSealer, key: string) {
  const issues = sizeIssues(args);
  const decoded = (name: 'after' | 'before') => {
    if (typeof args[name] !== 'string') return undefined;
    const position = cursors.open(args[name]);
    if (position?.list === shortHash(key)) return position;
    issues.push(`"${name}" must be a cursor of this list and its filter, but is not`);
    return undefined;
  };
  const request = { ...sizeOf(args), after: decoded('after'), before: decoded('before') };
  if (issues.length > 0) throw new BadInput(...issues);
  return request;
}

/** The number of rows, and the end of the range between the cursors from which they are counted. */
export const sizeOf = ({ first, last }: WindowArgs): { from: 'first' | 'last'; count: number } =>
  typeof last === 'number'
    ? { from: 'last', count: last }
    : { from: 'first', count: first ?? DEFAULT_ROWS };

export function sizeIssues(args: WindowArgs): string[] {
  const issues: string[] = [];
  for (const name of ['first', 'last'] as const) {
    const count = args[name] ?? DEFAULT_ROWS;
    if (Number.isInteger(count) && count >= 1 && count <= MAX_ROWS) continue;
    issues.push(`"${name}" must be between 1 and ${MAX_ROWS}, but got ${count}`);
  }
  if (typeof args.first === 'number' && typeof args.last === 'number')
    issues.push('"first" and "last" exclude each other, but got both');
  return issues;
}

/** The rows from offset `start` up to, not including, `end`. */
export type Window = Readonly<{ start: number; end: number }>;

/** What the selected fields need: all rows of the window, its first and last cursor, its offsets, or only the length. */
export type Need = 'rows' | 'cursors' | 'offsets' | 'total' | 'nothing';

/** `between` are all rows between the two cursors. */
export function windowOf({ from, count }: WindowRequest, between: Window, total: number): Window {
  const start = Math.min(between.start, total);
  const end = Math.max(start, Math.min(between.end, total));
  return from === 'first'
    ? { start, end: Math.min(start + count, end) }
    : { start: Math.max(start, end - count), end };
}

export function pagesNeeded({ start, end }: Window, need: Need): number[] {
  if (start >= end) return [];
  const first = pageOf(start);
  const last = pageOf(end - 1);
  if (need === 'rows') return pagesBetween(first, last);
  return need === 'cursors' ? [...new Set([first, last])] : [];
}

/** The pages to read first, when only the cursors' totals, or else the total of an earlier answer (`hint`), are known. */
export function firstPagesToRead(request: WindowRequest, need: Need, hint?: number): number[] {
  const { after, before, from } = request;
  // A cursor's total is from when the client read that page; a hint may be of any age.
  const isHinted = after === undefined && before === undefined;
  const total = isHinted ? hint : Math.min(after?.total ?? Infinity, before?.total ?? Infinity);
  if (total === undefined) return [1];

  const between = { start: after ? after.offset + 1 : 0, end: before ? before.offset : total };
  const window = windowOf(request, between, total);
  // Empty, but that may have changed: the page with the cursor's own row shows it.
  if (window.start === window.end) return [pageOf((after ?? before)?.offset ?? 0)];
  if (need === 'rows' || need === 'cursors') return pagesNeeded(window, need);
  // Any page has the total. This one is next to the cursor, if there is one, and shows whether rows moved.
  return [pageOf(from === 'first' ? window.start : window.end - 1)];
}

/** The most pages that a window can read while the list does not change. Invalid arguments read none. */
export function maxPagesOfWindow(args: WindowArgs, need: Need): number {
  if (need === 'nothing' || sizeIssues(args).length > 0) return 0;
  if (need === 'offsets' || need === 'total') return 1;
  const { from, count } = sizeOf(args);
  const hasAfter = typeof args.after === 'string';
  const isTail = from === 'last' && !hasAfter && typeof args.before !== 'string';
  // From the head a window starts with a page. Elsewhere it may start with a page's last row.
  const start = from === 'first' && !hasAfter ? 0 : PAGE_SIZE - 1;
  const pages = pagesNeeded({ start, end: start + count }, need).length;
  // Page one has to be read first to learn where the tail is. A cursor holds the list's length.
  return isTail ? pages + 1 : pages;
}
