import { CodedError, hasCode } from '../errors.ts';
import { type MaybePromise, mapMaybePromise } from '../maybe-promise.ts';
import { PAGE_SIZE, type Page, type PagedList, type Row, firstOffsetOf, pageOf } from '../page.ts';
import { type CursorSealer, changeSeenAt, dividingOffset, hashedIds, shortHash } from './cursor.ts';
import type { Need, WindowArgs, WindowRequest } from './window.ts';
import { firstPagesToRead, pagesNeeded, parseWindowArgs, windowOf } from './window.ts';

export type PageInfo = Pick<
  Connection<Row>,
  'hasNextPage' | 'hasPreviousPage' | 'startCursor' | 'endCursor'
>;

export type Edge<T extends Row> = Readonly<Connection<T>['edges'][number]>;

/** A page that was read. `total` is undefined if the page was not found. */
type ReadPage<T> = Pick<Page<T>, 'rows' | 'requestedAt' | 'hashes'> & {
  readonly total: number | undefined;
};

/** A list that changes faster than it can be read is shown as it was read, unless a page is missing. */
const MAX_REREADS = 3;
const PAGE_MISSING = 'The Partner API has no page of this list where its length calls for one.';

/** Reads the pages that the selected fields need, synchronously if they are cached. Throws `BadInput` before that. */
export function loadConnection<T extends Row>(
  args: WindowArgs,
  need: Need,
  list: PagedList<T>,
  cursors: CursorSealer,
): MaybePromise<Connection<T>> {
  const request = parseWindowArgs(args, cursors, list.key);
  const connection = new Connection(list, cursors, request, need);
  if (need === 'nothing') return connection;
  const first = firstPagesToRead(request, need, list.totalHint());
  return connection.readAndLocate(first, first);
}

/** A window of a list, and the pages read for it. A class, because a response may hold hundreds. */
export class Connection<T extends Row> {
  readonly pages = new Map<number, ReadPage<T>>();
  /** From the newest answer; `undefined` until there is one. */
  total: number | undefined;
  private readonly list: PagedList<T>;
  private readonly cursors: CursorSealer;
  private readonly request: WindowRequest;
  private readonly need: Need;
  private window = { start: 0, end: 0 };
  private rereads = 0;
  /** When the last of the pages that contradict each other was requested. What is read again has to be newer. */
  private freshSince = 0;
  /** The list's length when a page that it calls for was last not found. */
  private totalWhenMissing: number | undefined;
  /** A repeated row, or a cursor's page, has shown a change. Cached pages may be from before it. */
  private isChanged = false;
  private listHash: string | undefined;

  constructor(list: PagedList<T>, cursors: CursorSealer, request: WindowRequest, need: Need) {
    this.list = list;
    this.cursors = cursors;
    this.request = request;
    this.need = need;
  }

  get nodes(): readonly T[] {
    return this.rows((row) => row);
  }

  get edges() {
    return this.rows((node, offset) => ({ node, offset, connection: this }));
  }

  get totalCount(): number {
    return this.total ?? 0;
  }

  /** Exact, as `hasPreviousPage` is: the Partner API returns the length of the list with every page. */
  get hasNextPage(): boolean {
    return this.window.end < this.totalCount;
  }

  get hasPreviousPage(): boolean {
    return this.window.start > 0;
  }

  // By offset and not by edge: a window of rows without ids has no edges, but an end to continue from.
  get startCursor(): string | null {
    return this.cursorAt(this.window.start);
  }

  get endCursor(): string | null {
    return this.cursorAt(this.window.end - 1);
  }

  /** Null outside the window, and if the row's page was not read. */
  cursorAt(offset: number): string | null {
    const page = this.pages.get(pageOf(offset));
    if (!page || offset < this.window.start || offset >= this.window.end) return null;
    const list = (this.listHash ??= shortHash(this.list.key));
    return this.cursors.seal({ list, offset, total: page.total ?? 0, ids: hashedIds(page) });
  }

  private rows<R>(project: (row: T, offset: number) => R): R[] {
    const rows: R[] = [];
    for (let offset = this.window.start; offset < this.window.end; offset += 1) {
      const row = this.pages.get(pageOf(offset))?.rows[offset % PAGE_SIZE];
      if (row !== undefined) rows.push(project(row, offset));
    }
    return rows;
  }

  /** Reads pages and then finds the window in the list as it is now. If nothing changed, the `wanted` pages are enough. */
  readAndLocate(pages: readonly number[], wanted: readonly number[], isFresh?: boolean) {
    const reading = this.read(pages, isFresh);
    return reading ? reading.then(() => this.locate(wanted)) : this.locate(wanted);
  }

  private locate(wanted: readonly number[]): MaybePromise<this> {
    const reread = this.dropContradicting(wanted);
    if (reread) return this.readAndLocate(reread, wanted);
    if (this.need === 'total') return this;
    const { after, before } = this.request;
    const start = after ? dividingOffset(after, 'after', this) : 0;
    if (typeof start !== 'number') return this.readAndLocate(start, wanted, true);
    const end = before ? dividingOffset(before, 'before', this) : Infinity;
    if (typeof end !== 'number') return this.readAndLocate(end, wanted, true);
    this.window = windowOf(this.request, { start, end }, this.totalCount);
    const pages = pagesNeeded(this.window, this.need);
    if (pages.every((page) => this.pages.has(page))) return this.complete(pages);
    if (this.rereads < MAX_REREADS) return this.readAndLocate(pages, pages);
    return mapMaybePromise(this.read(pages), () => this.complete(pages));
  }

  /** Throws if the API has no page that the list's length calls for: its rows must not be left out unnoticed. */
  private complete(pages: readonly number[]): this {
    if (pages.every((page) => this.pages.get(page)?.total !== undefined)) return this;
    throw new CodedError('UPSTREAM_BAD_RESPONSE', PAGE_MISSING);
  }

  /** Reads, in parallel, the pages not read yet. Synchronous if all of them are cached. */
  private read(pages: readonly number[], isFresh = this.isChanged || this.rereads > 0) {
    const loads: Promise<void>[] = [];
    for (const page of pages) {
      if (this.pages.has(page)) continue;
      const answer = this.list.loadPage(page, isFresh ? this.freshSince : undefined);
      if (answer instanceof Promise) loads.push(this.storeLater(page, answer));
      else this.store(page, answer);
    }
    return loads.length > 0 ? Promise.all(loads) : undefined;
  }

  /**
   * Drops the pages that contradict others: the list changed between two reads, or a page came from the cache. Returns the
   * pages to read next, from now on past the cache; undefined if there is nothing to read again.
   */
  private dropContradicting(wanted: readonly number[]) {
    const { pages, total: newest } = this;
    const { after, before } = this.request;
    // If every page read was past the end: page one exists as long as the list does.
    if (newest === undefined) return [1];
    if (this.rereads === MAX_REREADS) return undefined;
    // One page can only contradict a cursor.
    const isAlone = pages.size === 1 && !after && !before;
    if (isAlone && pages.values().next().value?.total === newest) return undefined;
    const missing = [...pages.keys()].filter((page) => pages.get(page)?.total === undefined);
    if (missing.some((page) => firstOffsetOf(page) < newest)) {
      // The list may have become shorter since the others were read. Page one shows it, unless it says the same again.
      if (this.totalWhenMissing === newest) return undefined;
      this.totalWhenMissing = newest;
      this.beginReread();
      for (const page of [1, ...missing]) pages.delete(page);
      return [1];
    }
    const repeated = repeatedAt(pages);
    const seen = Math.max(changeSeenAt(after, this), changeSeenAt(before, this));
    // Once only: the list itself may have a row twice.
    const changedAt = this.isChanged ? 0 : Math.max(repeated, seen);
    this.isChanged ||= changedAt > 0;
    const found = [...pages].filter(([, { total }]) => total !== undefined);
    const otherTotal = found.filter(([, { total }]) => total !== newest);
    // The length may have changed and changed back: pages older than one with another length may have other rows.
    const since = Math.max(changedAt, ...otherTotal.map(([, { requestedAt = 0 }]) => requestedAt));
    const stale = found
      .filter(([, { total, requestedAt = 0 }]) => total !== newest || requestedAt < since)
      .map(([page]) => page);
    if (stale.length === 0) return undefined;
    // A change since the cursor was made contradicts only cached pages, not those that this operation has read.
    if (repeated > 0 || otherTotal.length > 0) this.beginReread();
    for (const page of stale) pages.delete(page);
    return stale.filter((page) => wanted.includes(page));
  }

  /** The pages read so far contradict each other: what is read from now on has to be newer than all of them. */
  private beginReread(): void {
    this.rereads += 1;
    const times = Array.from(this.pages.values(), ({ requestedAt = 0 }) => requestedAt);
    this.freshSince = Math.max(...times);
  }

  private async storeLater(page: number, answer: Promise<Page<T>>): Promise<void> {
    try {
      this.store(page, await answer);
    } catch (error) {
      if (page === 1 || !hasCode(error, 'NOT_FOUND')) throw error;
      this.store(page, { rows: [], total: undefined });
    }
  }

  private store(page: number, answer: ReadPage<T>): void {
    this.pages.set(page, answer);
    this.total = answer.total ?? this.total;
  }
}

/** When the newer of two pages with the same row was requested, or 0. Pages that are older are from before the change. */
function repeatedAt(pages: ReadonlyMap<number, ReadPage<Row>>): number {
  if (pages.size === 1) return 0;
  const seen = new Map<string, number>();
  for (const { rows, requestedAt = 0 } of pages.values()) {
    for (const row of rows) {
      const other = row && seen.get(row.id);
      if (other !== undefined && other !== requestedAt) return Math.max(other, requestedAt);
      if (row) seen.set(row.id, requestedAt);
    }
  }
  return 0;
}
