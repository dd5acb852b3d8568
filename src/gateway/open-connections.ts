import type { Limits } from '../config.ts';

/** A connection that stays open: a socket or an event stream. */
export interface OpenConnection {
  /** Called a few times a second. If `isLate`, this process was busy or suspended, and pongs may be unread. */
  check(now: number, isLate: boolean): void;
  /** True while queries or mutations run on it, or a large result is being sent. */
  readonly isBusy?: boolean;
  /** Closes gracefully, so that the client reconnects. One that is busy is closed after its answers. */
  end(): void;
  destroy(): void;
}

/** All sockets and event streams, with one timer: a timer for each would take more memory than its socket. */
export function createOpenConnections(limits: Limits) {
  const { socketPingMs, socketsPerViewer, unreadCharacters } = limits;
  // Four checks take less than a ping interval: a check so late that pongs may be unread is always `isLate`.
  const checkMs = Math.min(250, Math.ceil(socketPingMs / 8));
  const open = new Set<OpenConnection>();
  let lastCheck = performance.now();
  const checking = setInterval(() => {
    const now = performance.now();
    const isLate = now - lastCheck > 4 * checkMs;
    lastCheck = now;
    for (const connection of open) connection.check(now, isLate);
  }, checkMs).unref();

  return {
    /** One check less than configured, so that a lost client is closed within two pings. */
    pingEveryMs: socketPingMs - checkMs,
    open,
    perViewer: createLimit<string>(socketsPerViewer),
    /** Characters of large results that a viewer has not read yet: they must not fill the memory. */
    unread: createLimit<string>(unreadCharacters),
    /** Ends all connections gracefully. Those that are left after 3 s, or `drainMs` if busy, are destroyed. */
    close(drainMs: number): void {
      for (const connection of open) connection.end();
      setTimeout(() => {
        for (const connection of open) if (!connection.isBusy) connection.destroy();
      }, 3_000).unref();
      setTimeout(() => {
        for (const connection of open) connection.destroy();
        clearInterval(checking);
      }, drainMs).unref();
    },
  };
}

/** A result of this many characters is sent as bytes, outside the heap, and counts as unread until it is sent. */
export const LARGE_CHARACTERS = 65_536;

/** Counts what each viewer or connection uses at a time: no one may take all of it. */
export function createLimit<Key>(max: number) {
  /** Only keys whose amount is above zero. */
  const used = new Map<Key, number>();
  const isReached = (key: Key): boolean => (used.get(key) ?? 0) >= max;

  return {
    used,
    isReached,
    /** False if the limit is reached. */
    acquire(key: Key, amount = 1): boolean {
      if (isReached(key)) return false;
      used.set(key, (used.get(key) ?? 0) + amount);
      return true;
    },
    release(key: Key, amount = 1): void {
      const left = (used.get(key) ?? 0) - amount;
      if (left > 0) used.set(key, left);
      else used.delete(key);
    },
  };
}

/** The bounded queue of an event stream, or of a socket whose client reads slowly. */
export class Backlog {
  /** As text: all subscribers' strings share the payload, but each one's bytes would be a copy. */
  readonly #waiting: string[] = [];
  #waitingBytes = 0;
  /** Resolves once the reader has caught up. */
  readonly caughtUp = Promise.withResolvers<void>();

  /** Undefined if the backlog is full. The transport holds one more event, and may hold results of queries. */
  put(text: string, limits: Pick<Limits, 'socketQueueEvents' | 'socketQueueBytes'>) {
    const isFull =
      this.#waiting.length >= limits.socketQueueEvents ||
      this.#waitingBytes + text.length > limits.socketQueueBytes;
    // A single event may wait, however large: a client that resumes would otherwise never get it.
    if (isFull && this.#waiting.length > 0) return undefined;
    this.#waiting.push(text);
    this.#waitingBytes += text.length;
    return this.caughtUp.promise;
  }

  /** The next message, once the client can take one. Undefined if none waits: the client has caught up. */
  take(): string | undefined {
    const text = this.#waiting.shift();
    this.#waitingBytes -= text?.length ?? 0;
    if (text === undefined) this.caughtUp.resolve();
    return text;
  }
}
