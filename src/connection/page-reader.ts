import type { Loaded } from '../loaded.ts';
import { PAGE_SIZE, type Page } from '../page.ts';
import { hashOfId } from './cursor.ts';
import { firstOffsetOf, type PagedList } from './page.ts';

/** The pages that one connection has read so far. */
export interface PageReader<T> {
  /** From the newest answer; `undefined` until there is one. */
  total(): number | undefined;
  pages(): readonly number[];
  page(page: number): ReadPage<T> | undefined;
  /** Reads, in parallel, those not read yet. Synchronous if all of them are cached. */
  read(pages: readonly number[], options?: { readonly fresh?: boolean }): Loaded<unknown>;
  /** Whether no page contradicts the newest total. */
  isConsistent(): boolean;
  /** Drops the pages that contradict the newest total, and returns their numbers. Later reads bypass the cache. */
  dropInconsistent(): readonly number[];
}

export interface ReadPage<T> {
  readonly rows: readonly (T | undefined)[];
  /** `undefined` if the page was not found. */
  readonly total: number | undefined;
  /** The hashed ids of the rows, 0 for a row without one. */
  ids(): readonly number[];
}

/** A list that changes faster than it can be read is shown as it was read. */
const MAX_REREADS = 3;

export function createPageReader<T>(list: PagedList<T>): PageReader<T> {
  const read = new Map<number, ReadPage<T>>();
  let newestTotal: number | undefined;
  let totalIsFresh = false;
  let rereads = 0;

  function store(
    page: number,
    rows: ReadPage<T>['rows'],
    total: number | undefined,
    fresh: boolean,
  ) {
    // Fields read in parallel: a late answer from the cache must not replace one that bypassed it.
    if (!fresh && read.has(page)) return;
    read.set(page, { rows, total, ids: () => hashedIds(rows, list.idOf) });
    if (total === undefined || (totalIsFresh && !fresh)) return;
    newestTotal = total;
    totalIsFresh = fresh;
  }

  function load(page: number, fresh: boolean): Promise<void> | undefined {
    const answer = loadPage(list, page, fresh);
    if (answer instanceof Promise) return storeLater(page, answer, fresh);
    store(page, answer.rows, answer.total, fresh);
    return undefined;
  }

  async function storeLater(page: number, answer: Promise<Page<T>>, fresh: boolean) {
    try {
      const { rows, total } = await answer;
      store(page, rows, total, fresh);
    } catch (error) {
      if (page === 1 || !isNotFound(error)) throw error;
      store(page, [], undefined, fresh);
    }
  }

  function isInconsistent([page, { total }]: [number, ReadPage<T>]): boolean {
    if (newestTotal === undefined) return false;
    return total === undefined ? firstOffsetOf(page) < newestTotal : total !== newestTotal;
  }

  return {
    total: () => newestTotal,
    pages: () => [...read.keys()],
    page: (page) => read.get(page),

    read(pages, { fresh = rereads > 0 } = {}) {
      const loads = pages
        .filter((page) => !read.has(page))
        .map((page) => load(page, fresh))
        .filter((pending) => pending !== undefined);
      return loads.length > 0 ? Promise.all(loads) : undefined;
    },

    isConsistent: () => ![...read].some(isInconsistent),

    dropInconsistent() {
      if (rereads === MAX_REREADS) return [];
      const dropped = [...read].filter(isInconsistent).map(([page]) => page);
      if (dropped.length > 0) rereads += 1;
      for (const page of dropped) read.delete(page);
      return dropped;
    },
  };
}

/** Weak, by a page's rows: a cached page is hashed once for all operations that read it. */
const idsOfRows = new WeakMap<object, readonly number[]>();

function hashedIds<T>(rows: ReadPage<T>['rows'], idOf: (row: T) => string): readonly number[] {
  const known = idsOfRows.get(rows);
  if (known !== undefined) return known;
  const hashOfRow = (row: T | undefined) => (row === undefined ? 0 : hashOfId(idOf(row)));
  const ids = rows.slice(0, PAGE_SIZE).map(hashOfRow);
  idsOfRows.set(rows, ids);
  return ids;
}

/** Turns a synchronous throw into a rejection, so that the promises of the other pages are still awaited. */
function loadPage<T>(list: PagedList<T>, page: number, fresh: boolean): Loaded<Page<T>> {
  try {
    return list.loadPage(page, fresh ? { fresh } : undefined);
  } catch (error) {
    return Promise.reject(error);
  }
}

const isNotFound = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'NOT_FOUND';
