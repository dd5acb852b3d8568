import { hasCode } from '../has-code.ts';
import type { Loaded } from '../loaded.ts';
import { PAGE_SIZE, type Page, type PagedList, type Row, firstOffsetOf } from '../page.ts';
import { hashOfId } from './cursor.ts';

export interface ReadPage<T> {
  readonly rows: readonly (T | undefined)[];
  /** `undefined` if the page was not found. */
  readonly total: number | undefined;
}

/** A list that changes faster than it can be read is shown as it was read. */
const MAX_REREADS = 3;

/** The pages that one connection has read so far. */
export class PageReader<T extends Row> {
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
      const answer = this.list.loadPage(page, fresh ? { fresh } : undefined);
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
    const { pages, total: newest } = this;
    // If every page read was past the end: page one exists as long as the list does.
    if (newest === undefined) return [1];
    if (this.rereads === MAX_REREADS) return undefined;
    const isInconsistent = ([page, { total }]: [number, ReadPage<T>]) =>
      total === undefined ? firstOffsetOf(page) < newest : total !== newest;
    const dropped = [...pages].filter(isInconsistent).map(([page]) => page);
    if (dropped.length === 0) return undefined;
    this.rereads += 1;
    for (const page of dropped) pages.delete(page);
    return dropped.filter((page) => wanted.includes(page));
  }

  /** The hashed ids of a page's rows, 0 for a row without one. Undefined if the page was not read. */
  idsOn(page: number): readonly number[] | undefined {
    const rows = this.pages.get(page)?.rows;
    return rows && hashedIds(rows);
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

export function hashedIds(rows: ReadPage<Row>['rows']): readonly number[] {
  const known = idsOfRows.get(rows);
  if (known !== undefined) return known;
  const ids = rows.slice(0, PAGE_SIZE).map((row) => (row === undefined ? 0 : hashOfId(row.id)));
  idsOfRows.set(rows, ids);
  return ids;
}
