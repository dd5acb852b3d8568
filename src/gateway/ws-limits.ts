/** How many sockets and event streams each viewer has. */
export function createSocketCount(most: number) {
  const counts = new Map<string, number>();
  return {
    /** False if the viewer has as many as there may be. */
    enter(subject: string): boolean {
      const count = counts.get(subject) ?? 0;
      if (count >= most) return false;
      counts.set(subject, count + 1);
      return true;
    },
    leave(subject: string): void {
      const count = counts.get(subject) ?? 0;
      if (count > 1) counts.set(subject, count - 1);
      else counts.delete(subject);
    },
  };
}

export type SocketCount = ReturnType<typeof createSocketCount>;

/** A ping's payload comes back in its pong: nobody needs more to tell one from another. */
const PING_BYTES = 128;

export const isLongPing = (payload: unknown): boolean =>
  payload !== undefined && Buffer.byteLength(JSON.stringify(payload)) > PING_BYTES;

/** It stands in front of every event that is delivered. */
const ID_CHARACTERS = 256;

export const isLongId = (id: string): boolean => id.length > ID_CHARACTERS;
