import { hash } from 'node:crypto';

import { PAGE_SIZE, type Row } from '../page.ts';
import type { Sealer } from '../sealed-text.ts';

export interface CursorPosition {
  /** Hash of the list's key, which holds its parent and filter. */
  readonly list: number;
  readonly offset: number;
  /** The list's length when the cursor was made. */
  readonly total: number;
  /**
   * Hashes of the ids on the row's page, in order; 0 for a row without an id and past the last row. The cursor's own row
   * is at `offset % 10`; its neighbours show where it was once it is gone. Never more than its own page, which was read
   * in any case: the same row gets the same cursor, whichever other pages the operation read.
   */
  readonly ids: readonly number[];
}

export type CursorCodec = ReturnType<typeof createCursorCodec>;

const NUMBER_BYTES = 4;
const LIST_BYTES = 6;
const ID_BYTES = 5;
const IDS_AT = 2 * NUMBER_BYTES + LIST_BYTES;
/** Always the same, so that a cursor's length shows nothing either. */
const BYTES = IDS_AT + PAGE_SIZE * ID_BYTES;

const hashOf = (text: string, bytes: number) => hash('sha256', text, 'buffer').readUIntBE(0, bytes);

export const hashOfList = (key: string) => hashOf(key, LIST_BYTES);

/** 40 bits: two rows of a list collide once in a million million. */
export const hashOfId = (id: string) => hashOf(id, ID_BYTES);

/** By a page's rows: a cached page is hashed once for all operations that read it. */
const idsOfRows = new WeakMap<object, readonly number[]>();

/** The hashed ids of a page's rows, 0 for a row without one. */
export function hashedIds(rows: readonly (Row | undefined)[]): readonly number[] {
  const known = idsOfRows.get(rows);
  if (known !== undefined) return known;
  const ids = rows.slice(0, PAGE_SIZE).map((row) => (row === undefined ? 0 : hashOfId(row.id)));
  idsOfRows.set(rows, ids);
  return ids;
}

/**
 * The contents are encrypted, since a filter with a date of birth could be guessed from the list's hash, and
 * authenticated, so that a forged offset can't start a search.
 */
export function createCursorCodec(sealer: Sealer) {
  return {
    encode({ list, offset, total, ids }: CursorPosition): string {
      const bytes = Buffer.alloc(BYTES);
      bytes.writeUInt32BE(offset, 0);
      bytes.writeUInt32BE(total, NUMBER_BYTES);
      bytes.writeUIntBE(list, 2 * NUMBER_BYTES, LIST_BYTES);
      for (const [index, id] of ids.entries())
        bytes.writeUIntBE(id, IDS_AT + index * ID_BYTES, ID_BYTES);
      return sealer.seal(bytes);
    },

    /** `undefined` for anything this gateway did not make. The caller checks that it is a cursor of the right list. */
    decode(text: string): CursorPosition | undefined {
      const bytes = sealer.open(text);
      if (bytes?.length !== BYTES) return undefined;
      return {
        list: bytes.readUIntBE(2 * NUMBER_BYTES, LIST_BYTES),
        offset: bytes.readUInt32BE(0),
        total: bytes.readUInt32BE(NUMBER_BYTES),
        ids: Array.from({ length: PAGE_SIZE }, (_, index) =>
          bytes.readUIntBE(IDS_AT + index * ID_BYTES, ID_BYTES),
        ),
      };
    },
  };
}
