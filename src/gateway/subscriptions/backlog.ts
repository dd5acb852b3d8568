/** How a transport writes, and what has been written that the reader's side has not taken yet. */
export interface Outlet<T> {
  readonly write: (item: T, onFlushed: () => void) => void;
  readonly sizeOf: (item: T) => number;
  /** True while nothing further should be written: it waits here, where the doors share its bytes. */
  readonly isFull: () => boolean;
  readonly bufferedBytes: () => number;
}

export interface BacklogLimits {
  readonly socketQueueEvents: number;
  readonly socketQueueBytes: number;
}

/** The bounded queue of a reader that is behind. Most readers never have one. */
export interface Backlog<T> {
  /** False if there was no room for it. */
  put(item: T): boolean;
  /** Resolves once the reader has caught up, or is given up: for whoever can wait. */
  readonly caughtUp: Promise<void>;
  readonly hasCaughtUp: boolean;
  /** To be called whenever something that was written is on its way. */
  flushed(): void;
  /** True if the reader has taken nothing for so long. */
  isStalled(now: number, forMs: number): boolean;
  /** Drops what waits. */
  drop(): void;
}

export function createBacklog<T>(outlet: Outlet<T>, limits: BacklogLimits): Backlog<T> {
  const waiting: T[] = [];
  const { promise: caughtUp, resolve } = Promise.withResolvers<void>();
  let waitingBytes = 0;
  let lastTakenAt = performance.now();
  let hasCaughtUp = false;

  function flushed(): void {
    lastTakenAt = performance.now();
    while (waiting.length > 0 && !outlet.isFull()) {
      const item = waiting.shift()!;
      waitingBytes -= outlet.sizeOf(item);
      outlet.write(item, flushed);
    }
    if (waiting.length === 0 && !outlet.isFull()) end();
  }

  function end(): void {
    hasCaughtUp = true;
    resolve();
  }

  return {
    caughtUp,
    get hasCaughtUp() {
      return hasCaughtUp;
    },
    put(item) {
      const size = outlet.sizeOf(item);
      const bytes = outlet.bufferedBytes() + waitingBytes + size;
      if (waiting.length >= limits.socketQueueEvents || bytes > limits.socketQueueBytes) {
        return false;
      }
      waiting.push(item);
      waitingBytes += size;
      return true;
    },
    flushed,
    isStalled: (now, forMs) => now - lastTakenAt > forMs,
    drop() {
      waiting.length = 0;
      end();
    },
  };
}
