import { type Loaded, whenLoaded } from '../loaded.ts';
import { PAGE_SIZE } from '../page.ts';
import { hashOfList, type CursorCodec, type CursorPosition } from './cursor.ts';
import { dividingOffset } from './drift.ts';
import { pageOf, type PagedList } from './page.ts';
import { createPageReader, type PageReader, type ReadPage } from './page-reader.ts';
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
  const request = readWindowArgs(args, codec, list.key);
  const reader = createPageReader(list);
  // The fields read their first pages in parallel. After a change one field searches at a time, and the next finds the
  // pages read.
  const exclusively = createMutex();

  function withWindow<R>(need: Need, resultOf: (window: Window, total: number) => R): Loaded<R> {
    const first = firstPagesToRead(request, need, list.totalHint());
    // Made before the mutex is released: the next field may drop the pages as outdated.
    const result = (window: Window) => resultOf(window, reader.total() ?? 0);
    const locate = () => whenLoaded(locateWindow(request, need, first, reader), result);
    return whenLoaded(reader.read(first), () => exclusively(locate));
  }

  function totalCount(): Loaded<number> {
    const first = firstPagesToRead(request, 'offsets', list.totalHint());
    return whenLoaded(reader.read(first), () => exclusively(() => consistentTotal(first, reader)));
  }

  let listHash: number | undefined;
  const cursorOn = (page: ReadPage<T>, offset: number) =>
    codec.encode({
      list: (listHash ??= hashOfList(list.key)),
      offset,
      total: page.total ?? 0,
      ids: page.ids(),
    });
  const edgeOf = (node: T, page: ReadPage<T>, offset: number): Edge<T> => ({
    node,
    cursor: () => cursorOn(page, offset),
  });
  // By offset and not by edge: a window of rows without ids has no edges, but an end to continue from.
  const cursorAt = (offset: number) => {
    const page = reader.page(pageOf(offset));
    return page === undefined ? null : cursorOn(page, offset);
  };

  function rowsOf<R>(
    { start, end }: Window,
    project: (row: T, page: ReadPage<T>, offset: number) => R,
  ): R[] {
    const rows: R[] = [];
    for (let offset = start; offset < end; offset += 1) {
      const page = reader.page(pageOf(offset));
      const row = page?.rows[offset % PAGE_SIZE];
      if (page !== undefined && row !== undefined) rows.push(project(row, page, offset));
    }
    return rows;
  }

  return {
    edges: () => withWindow('rows', (window) => rowsOf(window, edgeOf)),
    nodes: () => withWindow('rows', (window) => rowsOf(window, (row) => row)),
    totalCount,
    pageInfo: {
      hasNextPage: () => withWindow('offsets', ({ end }, total) => end < total),
      hasPreviousPage: () => withWindow('offsets', ({ start }) => start > 0),
      startCursor: () =>
        withWindow('cursors', ({ start, end }) => (start < end ? cursorAt(start) : null)),
      endCursor: () =>
        withWindow('cursors', ({ start, end }) => (start < end ? cursorAt(end - 1) : null)),
    },
  };
}

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
  reader: PageReader<unknown>,
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
function consistentTotal(wanted: readonly number[], reader: PageReader<unknown>): Loaded<number> {
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
  reader: PageReader<unknown>,
): Loaded<number> {
  if (cursor === undefined) return open;
  const found = dividingOffset(cursor, side, reader);
  if ('offset' in found) return found.offset;
  const searched = reader.read(found.search, { fresh: true });
  return whenLoaded(searched, () => boundAt(side, cursor, open, reader));
}

/** Runs one task at a time, in order; synchronously while none is running. A failed task does not stop the next. */
function createMutex() {
  let running: Promise<void> | undefined;

  return function exclusively<R>(task: () => Loaded<R>): Loaded<R> {
    const result = running === undefined ? task() : running.then(task);
    if (!(result instanceof Promise)) return result;
    const release = () => {
      if (running === released) running = undefined;
    };
    const released: Promise<void> = result.then(release, release);
    running = released;
    return result;
  };
}
