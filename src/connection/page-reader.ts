import { hasCode } from '../has-code.ts';
import type { Loaded } from '../loaded.ts';
import { PAGE_SIZE, type Page, firstOffsetOf, type PagedList } from '../page.ts';
import { hashOfId } from './cursor.ts';

export interface ReadPage<T> {
  readonly rows: readonly (T | undefined)[];
  /** `undefined` if the page was not found. */
  readonly total: number | undefined;
  /** The hashed ids of the rows, 0 for a row without one. */
  ids(): readonly number[];
}

/** A list that changes faster than it can be read is shown as it was read. */
const MAX_REREADS = 3;

/** The pages that one connection has read so far. */
export class PageReader<T> {
  private readonly list: PagedList<T>;
  private readonly loaded = new Map<number, ReadPage<T>>();
  private newestTotal: number | undefined;
  private totalIsFresh = false;
  private rereads = 0;

  constructor(list: PagedList<T>) {
    this.list = list;
  }

  /** From the newest answer; `undefined` until there is one. */
  total(): number | undefined {
    return this.newestTotal;
  }

  pages(): readonly number[] {
    return [...this.loaded.keys()];
  }

  page(page: number): ReadPage<T> | undefined {
    return this.loaded.get(page);
  }

  /** Reads, in parallel, those not read yet. Synchronous if all of them are cached. */
  read(
    pages: readonly number[],
    { fresh = this.rereads > 0 }: { readonly fresh?: boolean } = {},
  ): Loaded<unknown> {
    const loads: Promise<void>[] = [];
    for (const page of pages) {
      const pending = this.loaded.has(page) ? undefined : this.load(page, fresh);
      if (pending) loads.push(pending);
    }
    return loads.length > 0 ? Promise.all(loads) : undefined;
  }

  /** Drops the pages that contradict the newest total, and returns their numbers. Later reads bypass the cache. */
  dropInconsistent(): readonly number[] {
    if (this.rereads === MAX_REREADS) return [];
    const dropped: number[] = [];
    for (const [page, { total }] of this.loaded) {
      if (this.isInconsistent(page, total)) dropped.push(page);
    }
    if (dropped.length > 0) this.rereads += 1;
    for (const page of dropped) this.loaded.delete(page);
    return dropped;
  }

  private isInconsistent(page: number, total: number | undefined): boolean {
    const { newestTotal } = this;
    if (newestTotal === undefined) return false;
    return total === undefined ? firstOffsetOf(page) < newestTotal : total !== newestTotal;
  }

  private load(page: number, fresh: boolean): Promise<void> | undefined {
    const answer = loadPage(this.list, page, fresh);
    if (answer instanceof Promise) return this.storeLater(page, answer, fresh);
    this.store(page, answer.rows, answer.total, fresh);
    return undefined;
  }

  private async storeLater(page: number, answer: Promise<Page<T>>, fresh: boolean): Promise<void> {
    try {
      const { rows, total } = await answer;
      this.store(page, rows, total, fresh);
    } catch (error) {
      if (page === 1 || !hasCode(error, 'NOT_FOUND')) throw error;
      this.store(page, [], undefined, fresh);
    }
  }

  private store(
    page: number,
    rows: ReadPage<T>['rows'],
    total: number | undefined,
    fresh: boolean,
  ): void {
    // Fields read in parallel: a late answer from the cache must not replace one that bypassed it.
    if (!fresh && this.loaded.has(page)) return;
    this.loaded.set(page, { rows, total, ids: () => hashedIds(rows, this.list.idOf) });
    if (total === undefined || (this.totalIsFresh && !fresh)) return;
    this.newestTotal = total;
    this.totalIsFresh = fresh;
  }
}

/** By a page's rows: a cached page is hashed once for all operations that read it. */
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
