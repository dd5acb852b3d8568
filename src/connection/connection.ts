import { hashOfList, type CursorCodec } from './cursor.ts';
import { createTurns, got, run, type Loaded, type Steps } from './loaded.ts';
import { PAGE_SIZE, pageOf, type PagedList } from './page.ts';
import { createReading, type SeenPage } from './reading.ts';
import { settledTotal, settledWindow, windowAtOnce } from './settle.ts';
import { readWindowArgs, type WindowArgs } from './window-args.ts';
import { pagesToBegin, type Need, type Window } from './window.ts';

export interface Edge<T> {
  readonly node: T;
  /** Computed only when asked for. */
  cursor(): string;
}

/** Each member reads only the pages it needs, and shares them with the others; what is cached is answered at once. */
export interface Connection<T> {
  edges(): Loaded<readonly Edge<T>[]>;
  nodes(): Loaded<readonly T[]>;
  totalCount(): Loaded<number>;
  readonly pageInfo: PageInfo;
}

export interface PageInfo {
  /** Exact, as `hasPreviousPage` is, whichever way the list is walked. */
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
  const reading = createReading(list);
  // Fields are resolved at once. Their first pages are read side by side; but a search after a change is made by one of
  // them alone, and the others find it done.
  const inTurn = createTurns();

  function* inTurnAfter<R>(read: Loaded<unknown>, steps: () => Steps<R>): Steps<R> {
    yield* got(read);
    return yield* got(inTurn(() => run(steps())));
  }

  function withWindow<R>(need: Need, answer: (window: Window, total: number) => R): Loaded<R> {
    const begun = pagesToBegin(request, need, list.totalHint());
    const read = reading.read(begun);
    const known = read instanceof Promise ? undefined : windowAtOnce(request, need, reading);
    if (known !== undefined) return answer(known, reading.total() ?? 0);
    // The answer is made before the turn ends: the next field may find the pages outdated, and drop them.
    const steps = function* () {
      const window = yield* settledWindow(request, need, begun, reading);
      return answer(window, reading.total() ?? 0);
    };
    return run(inTurnAfter(read, steps));
  }

  function totalCount(): Loaded<number> {
    const begun = pagesToBegin(request, 'place', list.totalHint());
    return run(inTurnAfter(reading.read(begun), () => settledTotal(begun, reading)));
  }

  let listHash: number | undefined;
  const cursorOn = (page: SeenPage<T>, offset: number) =>
    codec.encode({
      list: (listHash ??= hashOfList(list.key)),
      offset,
      total: page.total ?? 0,
      ids: page.ids(),
    });
  const edgeOf = (node: T, page: SeenPage<T>, offset: number): Edge<T> => ({
    node,
    cursor: () => cursorOn(page, offset),
  });
  // By place and not by edge: a window of nothing but rows without an id still has an end to go on from.
  const cursorAt = (offset: number) => {
    const page = reading.page(pageOf(offset));
    return page === undefined ? null : cursorOn(page, offset);
  };

  function rowsOf<R>(
    { start, end }: Window,
    project: (row: T, page: SeenPage<T>, offset: number) => R,
  ): R[] {
    const found: R[] = [];
    for (let offset = start; offset < end; offset += 1) {
      const page = reading.page(pageOf(offset));
      const row = page?.rows[offset % PAGE_SIZE];
      if (page !== undefined && row !== undefined) found.push(project(row, page, offset));
    }
    return found;
  }

  return {
    edges: () => withWindow('rows', (window) => rowsOf(window, edgeOf)),
    nodes: () => withWindow('rows', (window) => rowsOf(window, (row) => row)),
    totalCount,
    pageInfo: {
      hasNextPage: () => withWindow('place', ({ end }, total) => end < total),
      hasPreviousPage: () => withWindow('place', ({ start }) => start > 0),
      startCursor: () =>
        withWindow('ends', ({ start, end }) => (start < end ? cursorAt(start) : null)),
      endCursor: () =>
        withWindow('ends', ({ start, end }) => (start < end ? cursorAt(end - 1) : null)),
    },
  };
}
