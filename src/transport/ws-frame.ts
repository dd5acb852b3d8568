import type { Socket } from 'node:net';

import type { Payload } from './payload.ts';

/** An event on its way to one operation of a socket. */
export interface SocketItem {
  /** The message up to its payload. */
  readonly head: string;
  readonly payload: Payload;
}

export const sizeOfItem = ({ head, payload }: SocketItem): number =>
  head.length + payload.messageTail.length;

/**
 * Straight to the connection, past the WebSocket library: it would want each socket's message whole. Servers send
 * unmasked, and nothing is compressed here, so the bytes of an event are the same for everyone: no socket holds a copy
 * of its own, however long it stalls.
 */
export function writeItem(
  raw: Socket,
  { head, payload: { messageTail } }: SocketItem,
  onFlushed?: () => void,
): void {
  raw.cork();
  raw.write(frameHead(head, messageTail.length));
  raw.write(messageTail, onFlushed);
  raw.uncork();
}

/** A final text frame. */
const FIN_TEXT = 0x81;

/** The beginning of a text frame, `text` in it, of which `tailBytes` are still to come. */
export function frameHead(text: string, tailBytes: number): Buffer {
  const textBytes = Buffer.byteLength(text);
  const length = textBytes + tailBytes;
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const head = Buffer.allocUnsafe(2 + lengthBytes + textBytes);
  head[0] = FIN_TEXT;
  if (lengthBytes === 0) head[1] = length;
  if (lengthBytes === 2) {
    head[1] = 126;
    head.writeUInt16BE(length, 2);
  }
  if (lengthBytes === 8) {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  head.write(text, 2 + lengthBytes);
  return head;
}
