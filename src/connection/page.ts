import type { Loaded } from '../loaded.ts';
import { PAGE_SIZE, type Page } from '../page.ts';

export { PAGE_SIZE, type Page } from '../page.ts';

export interface PagedList<T> {
  /** Canonical text of list, parent and filter. Its hash goes into cursors, so that they fit no other list. */
  readonly key: string;
  readonly idOf: (row: T) => string;
  /**
   * Synchronous when cached; asked twice within an operation, it makes one call. `fresh` goes past the cache.
   * A page past the end is empty, or fails with code `NOT_FOUND`.
   */
  loadPage(page: number, options?: { readonly fresh?: boolean }): Loaded<Page<T>>;
  /** The length as an earlier answer told it; may be wrong by now. */
  totalHint(): number | undefined;
}

/** The number, from one, of the page that holds the row at `offset`. */
export const pageOf = (offset: number) => Math.floor(offset / PAGE_SIZE) + 1;

export const firstOffsetOf = (page: number) => (page - 1) * PAGE_SIZE;

/** Page one exists even when the list is empty. */
export const lastPageOf = (total: number) => Math.max(1, Math.ceil(total / PAGE_SIZE));

/** The pages from `first` to `last`, both included. */
export function pagesBetween(first: number, last: number): number[] {
  const pages: number[] = [];
  for (let page = first; page <= last; page += 1) pages.push(page);
  return pages;
}
