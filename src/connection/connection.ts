import { type Loaded, whenLoaded } from '../loaded.ts';
import { PAGE_SIZE, pageOf, type PagedList } from '../page.ts';
import { hashOfList, type CursorCodec, type CursorPosition } from './cursor.ts';
import { dividingOffset } from './drift.ts';
import { PageReader, type ReadPage } from './page-reader.ts';
import { readWindowArgs, type WindowArgs, type WindowRequest } from './window-args.ts';
import { firstPagesToRead, pagesNeeded, windowOf, type Need, type Window } from './window.ts';

export interface Edge<T> {
  readonly node: T;
  /** Computed only when selected. */
  cursor(): string;
}

/** Each field reads only the pages it needs and shares them with the others. Synchronous when they are cached. */
export interface Connection<T> {
  edges(): Loaded<readonly Edge<T>[]>;
  nodes(): Loaded<readonly T[]>;
  totalCount(): Loaded<number>;
  readonly pageInfo: PageInfo;
}

export interface PageInfo {
  /** Exact in both directions, as `hasPreviousPage` is. */
  hasNextPage(): Loaded<boolean>;
  hasPreviousPage(): Loaded<boolean>;
  startCursor(): Loaded<string | null>;
  endCursor(): Loaded<string | null>;
}

/** Throws `BadWindow` at once, before anything is read. */
export function connectionFromPages<T>(
  args: WindowArgs,
  list: PagedList<T>,
  codec: CursorCodec,
): Connection<T> {
  return new PagedConnection(readWindowArgs(args, codec, list.key), list, codec);
}

const rowItself = <T>(row: T): T => row;

/** A class, because a response may hold hundreds: one for each row that has a list. */
class PagedConnection<T> implements Connection<T>, PageInfo {
  private readonly request: WindowRequest;
  private readonly list: PagedList<T>;
  private readonly codec: CursorCodec;
  private readonly reader: PageReader<T>;
  /** The running search for the window. After a change one field searches at a time, and the next finds the pages read. */
  private running: Promise<void> | undefined;
  private listHash: number | undefined;

  constructor(request: WindowRequest, list: PagedList<T>, codec: CursorCodec) {
    this.request = request;
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
    const first = firstPagesToRead(this.request, 'offsets', this.list.totalHint());
    return whenLoaded(this.reader.read(first), () =>
      this.exclusively(() => consistentTotal(first, this.reader)),
    );
  }

  get pageInfo(): PageInfo {
    return this;
  }

  hasNextPage(): Loaded<boolean> {
    return this.withWindow('offsets', ({ end }, total) => end < total);
  }

  hasPreviousPage(): Loaded<boolean> {
    return this.withWindow('offsets', ({ start }) => start > 0);
  }

  startCursor(): Loaded<string | null> {
    return this.withWindow('cursors', ({ start, end }) =>
      start < end ? this.cursorAt(start) : null,
    );
  }

  endCursor(): Loaded<string | null> {
    return this.withWindow('cursors', ({ start, end }) =>
      start < end ? this.cursorAt(end - 1) : null,
    );
  }

  private withWindow<R>(need: Need, resultOf: (window: Window, total: number) => R): Loaded<R> {
    const { request, reader } = this;
    const first = firstPagesToRead(request, need, this.list.totalHint());
    // Made before the next field may search: it may drop the pages as outdated.
    const result = (window: Window) => resultOf(window, reader.total() ?? 0);
    const locate = () => whenLoaded(locateWindow(request, need, first, reader), result);
    return whenLoaded(reader.read(first), () => this.exclusively(locate));
  }

  /** Runs one task at a time, in order; synchronously while none is running. A failed task does not stop the next. */
  private exclusively<R>(task: () => Loaded<R>): Loaded<R> {
    const result = this.running === undefined ? task() : this.running.then(task);
    if (!(result instanceof Promise)) return result;
    const release = () => {
      if (this.running === released) this.running = undefined;
    };
    const released: Promise<void> = result.then(release, release);
    this.running = released;
    return result;
  }

  private rowsOf<R>(
    { start, end }: Window,
    project: (row: T, page: ReadPage<T>, offset: number) => R,
  ): R[] {
    const rows: R[] = [];
    for (let offset = start; offset < end; offset += 1) {
      const page = this.reader.page(pageOf(offset));
      const row = page?.rows[offset % PAGE_SIZE];
      if (page !== undefined && row !== undefined) rows.push(project(row, page, offset));
    }
    return rows;
  }

  /** By offset and not by edge: a window of rows without ids has no edges, but an end to continue from. */
  private cursorAt(offset: number): string | null {
    const page = this.reader.page(pageOf(offset));
    return page === undefined ? null : this.cursorOn(page, offset);
  }

  private cursorOn(page: ReadPage<T>, offset: number): string {
    const list = (this.listHash ??= hashOfList(this.list.key));
    return this.codec.encode({ list, offset, total: page.total ?? 0, ids: page.ids() });
  }
}

type AnyReader = Pick<
  PageReader<unknown>,
  'total' | 'pages' | 'page' | 'read' | 'dropInconsistent'
>;

/** A list that changes with every read is shown as it is after this many rounds. */
const MAX_ROUNDS = 8;

/**
 * The window in the list as it is now, once the pages that `need` requires are read. While nothing changed, the first
 * pages are all it takes, and this is synchronous.
 */
function locateWindow(
  request: WindowRequest,
  need: Need,
  wanted: readonly number[],
  reader: AnyReader,
  round = 1,
): Loaded<Window> {
  return whenLoaded(consistentTotal(wanted, reader), (total) =>
    whenLoaded(boundAt('after', request.after, 0, reader), (low) =>
      whenLoaded(boundAt('before', request.before, Infinity, reader), (high) => {
        const window = windowOf(request, { low, high }, reader.total() ?? total);
        const pages = pagesNeeded(window, need);
        const isComplete = pages.every((page) => reader.page(page) !== undefined);
        if (isComplete && reader.total() === total) return window;
        return whenLoaded(reader.read(pages), () =>
          round === MAX_ROUNDS ? window : locateWindow(request, need, pages, reader, round + 1),
        );
      }),
    ),
  );
}

/**
 * The list's length, once the pages read agree on it. If they don't, the list changed between two reads, or one of the
 * pages came from the cache: those that disagree with the newest are read again.
 */
function consistentTotal(wanted: readonly number[], reader: AnyReader): Loaded<number> {
  const dropped = reader.dropInconsistent();
  if (dropped.length > 0) {
    const again = dropped.filter((page) => wanted.includes(page));
    return whenLoaded(reader.read(again), () => consistentTotal(wanted, reader));
  }
  // Every page read was past the end. Page one exists as long as the list does.
  const pageOne = reader.total() === undefined ? reader.read([1]) : undefined;
  return whenLoaded(pageOne, () => reader.total() ?? 0);
}

function boundAt(
  side: 'after' | 'before',
  cursor: CursorPosition | undefined,
  open: number,
  reader: AnyReader,
): Loaded<number> {
  if (cursor === undefined) return open;
  const found = dividingOffset(cursor, side, reader);
  if ('offset' in found) return found.offset;
  const searched = reader.read(found.search, { fresh: true });
  return whenLoaded(searched, () => boundAt(side, cursor, open, reader));
}
