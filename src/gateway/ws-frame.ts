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
 * unmasked, and nothing is compressed here, so all but the id is the same for everyone.
 */
export function writeFrame(
  raw: Socket,
  head: string,
  payload: Payload,
  onFlushed?: () => void,
): void {
  if (payload.messageTail.length > SMALL_BYTES) {
    raw.cork();
    raw.write(frameHead(head, payload.messageTail.length));
    raw.write(payload.messageTail, onFlushed);
    raw.uncork();
    return;
  }
  raw.write(frameOf(head, payload), onFlushed);
  // Bytes that are still to go must not change any more.
  if (raw.writableLength > 0) last = undefined;
}

/** Past this, no socket may hold bytes of its own: it might stall, and there are thousands. */
const SMALL_BYTES = 8_192;

interface Frame {
  readonly payload: Payload;
  readonly headBytes: number;
  readonly bytes: Buffer;
}

/** What was written last, if the system took all of it: only the head is written anew for the next socket. */
let last: Frame | undefined;

function frameOf(head: string, payload: Payload): Buffer {
  const headBytes = Buffer.byteLength(head);
  const { messageTail } = payload;
  if (last?.payload === payload && last.headBytes === headBytes) {
    last.bytes.write(head, last.bytes.length - messageTail.length - headBytes);
  } else {
    const bytes = Buffer.concat([frameHead(head, messageTail.length), messageTail]);
    last = { payload, headBytes, bytes };
  }
  return last.bytes;
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
