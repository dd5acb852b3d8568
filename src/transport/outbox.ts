/** Where a connection's events go when they can't go further. */
export interface Outlet<T> {
  readonly write: (item: T, onFlushed: () => void) => void;
  readonly sizeOf: (item: T) => number;
  /** Bytes that were written and that the reader's side has not taken yet. */
  readonly bufferedBytes: () => number;
  /** With so many bytes buffered nothing further is written; it waits here, where the doors share it. */
  readonly enoughBytes: number;
}

export interface OutboxLimits {
  readonly socketQueueEvents: number;
  readonly socketQueueBytes: number;
}

export interface Outbox<T> {
  /** The promise is for whoever can wait: it resolves once there is room again. */
  put(item: T): void | Promise<void>;
  /** True if something has been waiting for so long without the reader taking anything. */
  isStalled(now: number, forMs: number): boolean;
  /** Drops what waits. */
  close(): void;
}

/** A bounded queue in front of a connection: events are written for as long as the reader keeps up. */
export function createOutbox<T>(
  outlet: Outlet<T>,
  limits: OutboxLimits,
  onOverflow: () => void,
): Outbox<T> {
  // Both are there for slow readers only: most connections never need them.
  let waiting: T[] | undefined;
  let room: PromiseWithResolvers<void> | undefined;
  let waitingBytes = 0;
  let lastTakenAt = 0;
  let closed = false;

  const isFull = (): boolean => outlet.bufferedBytes() > outlet.enoughBytes;

  function flushed(): void {
    if (!waiting) return;
    lastTakenAt = performance.now();
    while (waiting.length > 0 && !isFull()) {
      const item = waiting.shift()!;
      waitingBytes -= outlet.sizeOf(item);
      outlet.write(item, flushed);
    }
    if (waiting.length === 0 && !isFull()) drained();
  }

  function drained(): void {
    waiting = undefined;
    waitingBytes = 0;
    room?.resolve();
    room = undefined;
  }

  function overflows(item: T): boolean {
    const bytes = outlet.bufferedBytes() + waitingBytes + outlet.sizeOf(item);
    return waiting!.length >= limits.socketQueueEvents || bytes > limits.socketQueueBytes;
  }

  return {
    put(item) {
      if (closed) return;
      if (!waiting) {
        outlet.write(item, flushed);
        if (!isFull()) return;
        // `flushed` will come for what was just written.
        waiting = [];
        lastTakenAt = performance.now();
      } else if (overflows(item)) {
        onOverflow();
        return;
      } else {
        waiting.push(item);
        waitingBytes += outlet.sizeOf(item);
      }
      room ??= Promise.withResolvers();
      return room.promise;
    },
    isStalled: (now, forMs) => waiting !== undefined && now - lastTakenAt > forMs,
    close() {
      closed = true;
      drained();
    },
  };
}
