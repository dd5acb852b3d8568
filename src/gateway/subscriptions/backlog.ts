import type { Limits } from '../../config.ts';

/** How a transport writes, and how much of it the client has not read yet. */
interface Outlet {
  readonly write: (text: string, onFlushed: () => void) => void;
  /** True while the transport should not write. Messages then wait in the backlog, where their bytes are counted. */
  readonly isFull: () => boolean;
  readonly bufferedBytes: () => number;
}

/** A client that reads nothing for this long, while messages wait, is considered gone. */
const STALLED_MS = 10_000;

export type Backlog = ReturnType<typeof createBacklog>;

/** The bounded queue of a client that reads slowly. Most clients never need one. */
export function createBacklog(
  outlet: Outlet,
  limits: Pick<Limits, 'socketQueueEvents' | 'socketQueueBytes'>,
) {
  const waiting: string[] = [];
  const { promise: caughtUp, resolve } = Promise.withResolvers<void>();
  let waitingBytes = 0;
  let lastTakenAt = performance.now();
  let hasCaughtUp = false;

  function flushed(): void {
    lastTakenAt = performance.now();
    while (waiting.length > 0 && !outlet.isFull()) {
      const text = waiting.shift()!;
      waitingBytes -= text.length;
      outlet.write(text, flushed);
    }
    if (waiting.length === 0 && !outlet.isFull()) end();
  }

  function end(): void {
    hasCaughtUp = true;
    resolve();
  }

  return {
    /** Resolves once the reader has caught up or is disconnected. */
    caughtUp,
    get hasCaughtUp() {
      return hasCaughtUp;
    },
    /** False if the backlog is full. */
    put(text: string): boolean {
      const bytes = outlet.bufferedBytes() + waitingBytes + text.length;
      if (waiting.length >= limits.socketQueueEvents || bytes > limits.socketQueueBytes)
        return false;
      waiting.push(text);
      waitingBytes += text.length;
      return true;
    },
    /** The transport calls it after each write. */
    flushed,
    isStalled: (now: number): boolean => !hasCaughtUp && now - lastTakenAt > STALLED_MS,
    /** Drops what waits. */
    drop(): void {
      waiting.length = 0;
      end();
    },
  };
}
