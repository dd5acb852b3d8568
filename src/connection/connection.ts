import { type Loaded, whenLoaded } from '../loaded.ts';
import { PAGE_SIZE, pageOf, type PagedList, type Row } from '../page.ts';
import { hashOfList, type CursorCodec } from './cursor.ts';
import { dividingOffset } from './drift.ts';
import { PageReader, type ReadPage, hashedIds } from './page-reader.ts';
import {
  type Need,
  type Window,
  type WindowArgs,
  type WindowRequest,
  firstPagesToRead,
  pagesNeeded,
  readWindowArgs,
  windowOf,
} from './window.ts';

export interface Edge<T> {
  readonly node: T;
  /** Computed only when selected. */
  cursor(): string;
}

export interface PageInfo {
  /** Exact in both directions, as `hasPreviousPage` is. */
  hasNextPage(): Loaded<boolean>;
  hasPreviousPage(): Loaded<boolean>;
  startCursor(): Loaded<string | null>;
  endCursor(): Loaded<string | null>;
}

/** A list that changes with every read is shown as it is after this many rounds. */
const MAX_ROUNDS = 8;

const rowItself = <T>(row: T): T => row;

/**
 * Each field reads only the pages it needs and shares them with the others. Synchronous when they are cached. A class,
 * because a response may hold hundreds: one for each row that has a list.
 */
export class Connection<T extends Row> implements PageInfo {
  private readonly request: WindowRequest;
  private readonly list: PagedList<T>;
  private readonly codec: CursorCodec;
  private readonly reader: PageReader<T>;
  /** The last search for the window. One field searches at a time, and the next finds the pages read. */
  private running: Promise<unknown> | undefined;
  private listHash: number | undefined;

  /** Throws `BadInput` at once, before anything is read. */
  constructor(args: WindowArgs, list: PagedList<T>, codec: CursorCodec) {
    this.request = readWindowArgs(args, codec, list.key);
    this.list = list;
    this.codec = codec;
    this.reader = new PageReader(list);
  }

  edges(): Loaded<readonly Edge<T>[]> {
    const edgeOf = (node: T, page: ReadPage<T>, offset: number): Edge<T> => ({
      node,
      cursor: () => this.cursorOn(page, offset),
    });
    return this.withWindow('rows', (window) => this.rowsOf(window, edgeOf));
  }

  nodes(): Loaded<readonly T[]> {
    return this.withWindow('rows', (window) => this.rowsOf(window, rowItself));
  }

  totalCount(): Loaded<number> {
    return this.afterFirstPages('offsets', (first) => this.settledTotal(first));
  }

  get pageInfo(): PageInfo {
    return this;
  }

  hasNextPage(): Loaded<boolean> {
    return this.withWindow('offsets', ({ end }) => end < (this.reader.total ?? 0));
  }

  hasPreviousPage(): Loaded<boolean> {
    return this.withWindow('offsets', ({ start }) => start > 0);
  }

  startCursor(): Loaded<string | null> {
    return this.withWindow('cursors', ({ start, end }) => this.cursorAt(start, start < end));
  }

  endCursor(): Loaded<string | null> {
    return this.withWindow('cursors', ({ start, end }) => this.cursorAt(end - 1, start < end));
  }

  private withWindow<R>(need: Need, resultOf: (window: Window) => R): Loaded<R> {
    // The result is made before the next field may search, which may drop the pages as outdated.
    return this.afterFirstPages(need, (first) => whenLoaded(this.locate(need, first), resultOf));
  }

  /** Runs one task at a time, in order; synchronously while none is running. A failed task does not stop the next. */
  private afterFirstPages<R>(need: Need, task: (first: readonly number[]) => Loaded<R>): Loaded<R> {
    const first = firstPagesToRead(this.request, need, this.list.totalHint());
    return whenLoaded(this.reader.read(first), () => {
      const result = whenLoaded(this.running, () => task(first));
      if (result instanceof Promise) this.running = result.catch(() => undefined);
      return result;
    });
  }

  /** The list's length, once the pages read agree on it. */
  private settledTotal(wanted: readonly number[]): Loaded<number> {
    const { reader } = this;
    const unsettled = reader.unsettled(wanted);
    if (!unsettled) return reader.total ?? 0;
    return whenLoaded(reader.read(unsettled), () => this.settledTotal(wanted));
  }

  /**
   * The window in the list as it is now, once the pages that `need` requires are read. While nothing changed, the first
   * pages are all it takes, and this is synchronous.
   */
  private locate(need: Need, wanted: readonly number[], round = 1): Loaded<Window> {
    return whenLoaded(this.settledTotal(wanted), (total) => {
      const { reader, request } = this;
      const { after, before } = request;
      const searched = (pages: readonly number[]) =>
        whenLoaded(reader.read(pages, true), () => this.locate(need, wanted, round));
      const low = after ? dividingOffset(after, 'after', reader) : 0;
      if (typeof low !== 'number') return searched(low);
      const high = before ? dividingOffset(before, 'before', reader) : Infinity;
      if (typeof high !== 'number') return searched(high);
      const window = windowOf(request, { low, high }, total);
      const pages = pagesNeeded(window, need);
      if (pages.every((page) => reader.pages.has(page))) return window;
      return whenLoaded(reader.read(pages), () =>
        round === MAX_ROUNDS ? window : this.locate(need, pages, round + 1),
      );
    });
  }

  private rowsOf<R>(
    { start, end }: Window,
    project: (row: T, page: ReadPage<T>, offset: number) => R,
  ): R[] {
    const rows: R[] = [];
    for (let offset = start; offset < end; offset += 1) {
      const page = this.reader.pages.get(pageOf(offset));
      const row = page?.rows[offset % PAGE_SIZE];
      if (page !== undefined && row !== undefined) rows.push(project(row, page, offset));
    }
    return rows;
  }

  /** By offset and not by edge: a window of rows without ids has no edges, but an end to continue from. */
  private cursorAt(offset: number, isThere: boolean): string | null {
    const page = isThere ? this.reader.pages.get(pageOf(offset)) : undefined;
    return page === undefined ? null : this.cursorOn(page, offset);
  }

  private cursorOn({ rows, total = 0 }: ReadPage<T>, offset: number): string {
    const list = (this.listHash ??= hashOfList(this.list.key));
    return this.codec.encode({ list, offset, total, ids: hashedIds(rows) });
  }
}
