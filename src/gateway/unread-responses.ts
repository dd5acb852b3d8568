import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** Shorter responses are not counted. */
export const LARGE_CHARACTERS = 65_536;
/** How long a client may take to read its response while others wait for space. */
const READ_MS = 1_000;
const CHECK_MS = 10;

/** Large responses that clients have not read yet: many clients that never read theirs must not fill the memory. */
export function createUnreadResponses(maxCharacters: number) {
  /** When each was made, oldest first. */
  const unread = new Map<ServerResponse, number>();
  let characters = 0;

  return {
    /** Counts a response until it is sent or its client disconnects. */
    add(res: ServerResponse, { length }: string): void {
      if (length < LARGE_CHARACTERS || res.closed) return;
      unread.set(res, performance.now());
      characters += length;
      res.once('close', () => {
        unread.delete(res);
        characters -= length;
      });
    },
    /** Resolves when there is space for another one. If need be, the client that takes longest is disconnected. */
    async space(): Promise<void> {
      for (; characters > maxCharacters; await delay(CHECK_MS)) {
        const [slowest] = unread;
        if (slowest && performance.now() - slowest[1] > READ_MS) slowest[0].req.socket.destroy();
      }
    },
  };
}
