import { randomBytes } from 'node:crypto';

import { raw } from '../raw-http.ts';

export interface FrameOptions {
  /** 1 for text, 0 for its continuation, 8 for a close frame. */
  readonly opcode?: number;
  readonly isLast?: boolean;
  readonly isMasked?: boolean;
  /** Bits that no extension was agreed for. */
  readonly reserved?: number;
}

/** One frame, valid or not. */
export function frameOf(data: string | Buffer, options: FrameOptions = {}): Buffer {
  const { opcode = 1, isLast = true, isMasked = true, reserved = 0 } = options;
  const bytes = Buffer.from(data);
  const mask = isMasked ? randomBytes(4) : Buffer.alloc(0);
  const masked = isMasked ? bytes.map((byte, i) => byte ^ mask[i % 4]!) : bytes;
  return Buffer.concat([
    Buffer.from([(isLast ? 0x80 : 0) | (reserved << 4) | opcode]),
    lengthOf(bytes.length, isMasked ? 0x80 : 0),
    mask,
    masked,
  ]);
}

function lengthOf(length: number, flag: number): Buffer {
  if (length < 126) return Buffer.from([flag | length]);
  return Buffer.from([flag | 126, length >> 8, length & 0xff]);
}

/** The code with which a socket is closed that sends these frames right after its upgrade; or the upgrade's status. */
export async function closeCodeOf(url: string, frames: readonly Buffer[], headers = '') {
  const { host } = new URL(url);
  const upgrade = `GET /graphql HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`;
  const key = `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n`;
  const protocol = 'Sec-WebSocket-Protocol: graphql-transport-ws\r\n';
  const head = Buffer.from(`${upgrade}${key}${headers || protocol}\r\n`);
  let close: Buffer | undefined;
  const received = await raw(url, Buffer.concat([head, ...frames]), (socket) => {
    socket.on('data', (chunk: Buffer) => {
      // The last frame: two bytes of header, two of code.
      const at = chunk.lastIndexOf(0x88);
      if (at < 0 || chunk.length < at + 4) return;
      close = chunk.subarray(at + 2, at + 4);
      socket.end();
    });
  });
  return close?.readUInt16BE() ?? Number(received.split(' ')[1]);
}
