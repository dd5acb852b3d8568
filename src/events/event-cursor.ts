import { crc32 } from 'node:zlib';
import type { Position } from '../store/event-log.ts';

/** An epoch is the log's own short name for itself; nothing we made is longer than this. */
const MAX_LENGTH = 256;

/**
 * Opaque to frontends. The epoch tells a log that was lost and begun anew from the one the cursor was
 * made of; the checksum tells a cursor cut short in copying from one that merely expired.
 */
export function encodeCursor(epoch: string, position: Position): string {
  const text = `${position}.${epoch}`;
  return Buffer.from(`${checksum(text)}${text}`).toString('base64url');
}

export function decodeCursor(
  cursor: string,
): { readonly epoch: string; readonly position: Position } | undefined {
  if (cursor.length > MAX_LENGTH) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  // The decoder skips what is no base64url and ignores spare bits: a second spelling is a typo too.
  if (bytes.toString('base64url') !== cursor) return undefined;
  const text = bytes.toString();
  const [, sum, digits, epoch] = /^([0-9a-f]{8})(0|[1-9]\d{0,15})\.(.+)$/s.exec(text) ?? [];
  if (sum === undefined || digits === undefined || epoch === undefined) return undefined;
  const position = Number(digits);
  if (!Number.isSafeInteger(position) || sum !== checksum(`${digits}.${epoch}`)) return undefined;
  return { epoch, position };
}

const checksum = (text: string): string => crc32(text).toString(16).padStart(8, '0');
