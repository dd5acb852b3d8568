import type { Link, LinkEnds } from '../lineage-store.ts';

/** Child, parent, page and time of each link, one after another. */
export type FlatLinks = readonly (string | number)[];
export type FlatLink = [child: string, parent: string, page: number, seenAt: number];
export const FLAT_LENGTH = 4;

/** In place of a page: for a link without one, and for a link to remove. */
export const NO_PAGE = -1;
export const GONE = -2;

/** Strings and numbers side by side cross to the worker at a fraction of what objects cost. */
export function flatLinks(links: readonly Link[], removed: readonly LinkEnds[]): FlatLinks {
  const values: (string | number)[] = [];
  for (const { child, parent, page, seenAt } of links)
    values.push(child, parent, page ?? NO_PAGE, seenAt);
  for (const { child, parent } of removed) values.push(child, parent, GONE, 0);
  return values;
}
