import type { Limits } from '../../config.ts';

/** How a transport writes, and what has been written that the reader's side has not taken yet. */
interface Outlet {
  readonly write: (text: string, onFlushed: () => void) => void;
  /** True while nothing further should be written: it waits here, where its bytes are counted. */
  readonly isFull: () => boolean;
  readonly bufferedBytes: () => number;
}

/** A reader that takes nothing for so long, while something waits for it, is not reading any more. */
const STALLED_MS = 10_000;

export type Backlog = ReturnType<typeof createBacklog>;

/** The bounded queue of a reader that is behind. Most readers never have one. */
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
    /** Resolves once the reader has caught up, or is given up: for whoever can wait. */
    caughtUp,
    get hasCaughtUp() {
      return hasCaughtUp;
    },
    /** False if there was no room for it. */
    put(text: string): boolean {
      const bytes = outlet.bufferedBytes() + waitingBytes + text.length;
      if (waiting.length >= limits.socketQueueEvents || bytes > limits.socketQueueBytes)
        return false;
      waiting.push(text);
      waitingBytes += text.length;
      return true;
    },
    /** To be called whenever something that was written is on its way. */
    flushed,
    isStalled: (now: number): boolean => !hasCaughtUp && now - lastTakenAt > STALLED_MS,
    /** Drops what waits. */
    drop(): void {
      waiting.length = 0;
      end();
    },
  };
}
