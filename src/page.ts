import type { MaybePromise } from './maybe-promise.ts';

/** The Partner API ignores any page-size parameter: every page but the last holds exactly ten rows. */
export const PAGE_SIZE = 10;

export interface Page<T> {
  /** `undefined` is a row without a usable id. It keeps its offset, so that the others' offsets stay right. */
  readonly rows: readonly (T | undefined)[];
  readonly total: number;
  readonly page: number;
  /** When the call for it began. What happened since may not be in it. */
  readonly requestedAt?: number | undefined;
  /** The rows as references, and hashes of their ids for cursors: made when first needed, for all operations. */
  refs?: Page<Row>;
  hashes?: readonly string[];
}

export type Row = Readonly<{ id: string }>;

export interface PagedList<T> {
  /** Canonical text of list, parent and filter. Cursors hold its hash, so that no other list accepts them. */
  readonly key: string;
  /**
   * Synchronous when cached; called twice within an operation, it makes one request. With `since`, the page was requested
   * after that time and after the operation began. A page past the end is empty, or fails with code `NOT_FOUND`.
   */
  loadPage(page: number, since?: number): MaybePromise<Page<T>>;
  /** The length from an earlier answer, which may be outdated. */
  totalHint(): number | undefined;
}

/** The number, from one, of the page that holds the row at `offset`. */
export const pageOf = (offset: number) => Math.floor(offset / PAGE_SIZE) + 1;

export const firstOffsetOf = (page: number) => (page - 1) * PAGE_SIZE;

/** Page one exists even when the list is empty. */
export const lastPageOf = (total: number) => Math.max(1, Math.ceil(total / PAGE_SIZE));

/** The pages from `first` to `last`, both included. Usually it is one, and `Array.from` is slow. */
export const pagesBetween = (first: number, last: number): number[] =>
  first === last ? [first] : Array.from({ length: last - first + 1 }, (_, index) => first + index);
