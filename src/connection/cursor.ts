import { createHmac, createSecretKey, hash, timingSafeEqual } from 'node:crypto';

import { PAGE_SIZE } from './page.ts';

/** What a cursor says about its row. */
export interface Place {
  /** Hash of the list's key. */
  readonly list: number;
  readonly offset: number;
  /** The list's length when the cursor was made. */
  readonly total: number;
  /**
   * Hashes of the ids on the row's page, in order; 0 for a row without an id. The row itself is at `offset % 10`; those
   * around it tell where it stood once it is gone. Never more than its own page: that one was read in any case, and so
   * the same row gets the same cursor whichever other pages the operation happened to read.
   */
  readonly ids: readonly number[];
}

export interface CursorCodec {
  encode(place: Place): string;
  /** `undefined` for whatever this gateway did not make. Whether it is of the right list is for the caller to compare. */
  decode(text: string): Place | undefined;
}

const VERSION = 1;
const LIST_BYTES = 6;
const ID_BYTES = 5;
const MAC_BYTES = 8;
/** Version, two varints of at most eight bytes, list, ids, mac. */
const MOST_BYTES = 1 + 16 + LIST_BYTES + PAGE_SIZE * ID_BYTES + MAC_BYTES;

const hashOf = (text: string, bytes: number) => hash('sha256', text, 'buffer').readUIntBE(0, bytes);

export const hashOfList = (key: string) => hashOf(key, LIST_BYTES);

/** 40 bits: two rows of the same list are taken for each other once in a million million. */
export const hashOfId = (id: string) => hashOf(id, ID_BYTES);

/** Cursors are signed, so that a forged offset can't set off a search; with the same secret, instances agree on them. */
export function createCursorCodec(secret: string): CursorCodec {
  // A key object, since a plain key is parsed anew for every cursor: five times the cost of the mac itself.
  const key = createSecretKey(createHmac('sha256', secret).update('connection cursor').digest());
  const macOf = (body: Uint8Array) =>
    createHmac('sha256', key).update(body).digest().subarray(0, MAC_BYTES);

  return {
    encode(place) {
      const bytes = Buffer.alloc(MOST_BYTES);
      const end = write(place, bytes);
      const macEnd = end + macOf(bytes.subarray(0, end)).copy(bytes, end);
      return bytes.toString('base64url', 0, macEnd);
    },

    decode(text) {
      const bytes = Buffer.from(text.slice(0, 2 * MOST_BYTES), 'base64url');
      // The decoder skips what is no base64url; only the one spelling that `encode` gives is a cursor.
      if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== text) return undefined;
      const body = bytes.subarray(0, -MAC_BYTES);
      if (!timingSafeEqual(macOf(body), bytes.subarray(-MAC_BYTES))) return undefined;
      return body[0] === VERSION ? placeOf(body) : undefined;
    },
  };
}

function write({ list, offset, total, ids }: Place, bytes: Buffer): number {
  let end = bytes.writeUInt8(VERSION, 0);
  end = writeVarint(total, bytes, writeVarint(offset, bytes, end));
  end = bytes.writeUIntBE(list, end, LIST_BYTES);
  for (const id of ids) end = bytes.writeUIntBE(id, end, ID_BYTES);
  return end;
}

function placeOf(body: Buffer): Place {
  const [offset, afterOffset] = readVarint(body, 1);
  const [total, afterTotal] = readVarint(body, afterOffset);
  const ids: number[] = [];
  for (let at = afterTotal + LIST_BYTES; at < body.length; at += ID_BYTES) {
    ids.push(body.readUIntBE(at, ID_BYTES));
  }
  return { list: body.readUIntBE(afterTotal, LIST_BYTES), offset, total, ids };
}

function writeVarint(value: number, bytes: Buffer, at: number): number {
  if (value < 128) return bytes.writeUInt8(value, at);
  const next = bytes.writeUInt8((value % 128) + 128, at);
  return writeVarint(Math.floor(value / 128), bytes, next);
}

function readVarint(bytes: Buffer, at: number): [value: number, next: number] {
  const byte = bytes.readUInt8(at);
  if (byte < 128) return [byte, at + 1];
  const [rest, next] = readVarint(bytes, at + 1);
  return [(byte % 128) + rest * 128, next];
}
