import { hash } from 'node:crypto';

import { PAGE_SIZE, type Row } from '../page.ts';
import type { Sealer } from '../sealed-text.ts';

/**
 * What a cursor holds. It is encrypted, since a filter with a date of birth could be guessed from the list's hash, and
 * authenticated, so that a forged offset can't start a search.
 */
export interface CursorPosition {
  /** Hash of the list's key, which holds its parent and filter. */
  readonly list: string;
  readonly offset: number;
  /** The list's length when the cursor was made. */
  readonly total: number;
  /**
   * Hashes of the ids on the row's page, in order; empty for a row without an id and past the last row. The cursor's own
   * row is at `offset % 10`; its neighbours show where it was once it is gone. Never more than its own page, which was
   * read in any case: the same row gets the same cursor, whichever other pages the operation read.
   */
  readonly ids: readonly string[];
}

export type CursorSealer = Sealer<CursorPosition>;

/** 42 bits: two rows of a list collide once in a million million. */
export const shortHash = (text: string): string => hash('sha256', text, 'base64url').slice(0, 7);

/** By a page's rows: a cached page is hashed once for all operations that read it. */
const idsOfRows = new WeakMap<object, readonly string[]>();

/** The hashed ids of a page's rows, as a cursor holds them. */
export function hashedIds(rows: readonly (Row | undefined)[]): readonly string[] {
  const known = idsOfRows.get(rows);
  if (known !== undefined) return known;
  const ids = Array<string>(PAGE_SIZE).fill('');
  for (const [index, row] of rows.entries()) if (row) ids[index] = shortHash(row.id);
  idsOfRows.set(rows, ids);
  return ids;
}
