import { hasCode } from '../has-code.ts';
import type { Loaded } from '../loaded.ts';
import { PAGE_SIZE, type Page, type PagedList, firstOffsetOf } from '../page.ts';
import { hashOfId } from './cursor.ts';

export interface ReadPage<T> {
  readonly rows: readonly (T | undefined)[];
  /** `undefined` if the page was not found. */
  readonly total: number | undefined;
}

/** A list that changes faster than it can be read is shown as it was read. */
const MAX_REREADS = 3;

/** The pages that one connection has read so far. */
export class PageReader<T> {
  readonly pages = new Map<number, ReadPage<T>>();
  /** From the newest answer; `undefined` until there is one. */
  total: number | undefined;
  private readonly list: PagedList<T>;
  private totalIsFresh = false;
  private rereads = 0;

  constructor(list: PagedList<T>) {
    this.list = list;
  }

  /** Reads, in parallel, those not read yet. Synchronous if all of them are cached. */
  read(pages: readonly number[], fresh = this.rereads > 0): Loaded<unknown> {
    const loads: Promise<void>[] = [];
    for (const page of pages) {
      if (this.pages.has(page)) continue;
      const answer = this.load(page, fresh);
      if (answer instanceof Promise) loads.push(this.storeLater(page, answer, fresh));
      else this.store(page, answer, fresh);
    }
    return loads.length > 0 ? Promise.all(loads) : undefined;
  }

  /**
   * The pages to read before the list's length is certain; undefined once the pages read agree on it. If they don't, the
   * list changed between two reads, or one came from the cache: those that contradict the newest are dropped, those
   * among them that are wanted are read again, and from then on past the cache.
   */
  unsettled(wanted: readonly number[]): readonly number[] | undefined {
    const dropped = this.rereads < MAX_REREADS ? this.inconsistentPages() : [];
    // If every page read was past the end: page one exists as long as the list does.
    if (dropped.length === 0) return this.total === undefined ? [1] : undefined;
    this.rereads += 1;
    for (const page of dropped) this.pages.delete(page);
    return dropped.filter((page) => wanted.includes(page));
  }

  /** The hashed ids of a page's rows, 0 for a row without one. Undefined if the page was not read. */
  idsOn(page: number): readonly number[] | undefined {
    const rows = this.pages.get(page)?.rows;
    return rows && hashedIds(rows, this.list.idOf);
  }

  private inconsistentPages(): number[] {
    const newest = this.total;
    if (newest === undefined) return [];
    const isInconsistent = ([page, { total }]: [number, ReadPage<T>]) =>
      total === undefined ? firstOffsetOf(page) < newest : total !== newest;
    return [...this.pages].filter(isInconsistent).map(([page]) => page);
  }

  /** A synchronous throw becomes a rejection, so that the promises of the other pages are still awaited. */
  private load(page: number, fresh: boolean): Loaded<Page<T>> {
    try {
      return this.list.loadPage(page, fresh ? { fresh } : undefined);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  private async storeLater(page: number, answer: Promise<Page<T>>, fresh: boolean): Promise<void> {
    try {
      this.store(page, await answer, fresh);
    } catch (error) {
      if (page === 1 || !hasCode(error, 'NOT_FOUND')) throw error;
      this.store(page, { rows: [], total: undefined }, fresh);
    }
  }

  private store(page: number, { rows, total }: ReadPage<T>, fresh: boolean): void {
    // Fields read in parallel: a late answer from the cache must not replace one that bypassed it.
    if (!fresh && this.pages.has(page)) return;
    this.pages.set(page, { rows, total });
    if (total === undefined || (this.totalIsFresh && !fresh)) return;
    this.total = total;
    this.totalIsFresh = fresh;
  }
}

/** By a page's rows: a cached page is hashed once for all operations that read it. */
const idsOfRows = new WeakMap<object, readonly number[]>();

export function hashedIds<T>(
  rows: ReadPage<T>['rows'],
  idOf: (row: T) => string,
): readonly number[] {
  const known = idsOfRows.get(rows);
  if (known !== undefined) return known;
  const hashOfRow = (row: T | undefined) => (row === undefined ? 0 : hashOfId(idOf(row)));
  const ids = rows.slice(0, PAGE_SIZE).map(hashOfRow);
  idsOfRows.set(rows, ids);
  return ids;
}
