import { existsSync, readFileSync } from 'node:fs';

import type { Config } from '../config.ts';
import type { Viewer } from '../viewer/viewer.ts';
import type { GatewayParts } from './gateway.ts';

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
export function createOpenConnections(config: Config, onRefused: () => void) {
  const { socketPingMs, socketsPerViewer, unreadCharacters } = config.limits;
  const maxOpen = 0.9 * maxConnections(config);
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
    /** True if no other may be opened: webhooks and health checks need connections too. */
    isFull(): boolean {
      if (open.size >= maxOpen) onRefused();
      return open.size >= maxOpen;
    },
    perViewer: createLimit<string>(socketsPerViewer),
    /** Characters of large messages that a viewer has not read yet: they must not fill the memory. */
    unread: createLimit<string>(unreadCharacters, LARGE_CHARACTERS),
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

/** A message of this many characters is sent as bytes, outside the heap, and counts as unread until it is sent. */
export const LARGE_CHARACTERS = 65_536;

/** Counts what each viewer or connection uses at a time: no one may take all of it. Amounts below `min` don't count. */
export function createLimit<Key>(max: number, min = 1) {
  /** Only keys whose amount is above zero. */
  const used = new Map<Key, number>();
  const isReached = (key: Key): boolean => (used.get(key) ?? 0) >= max;

  return {
    used,
    isReached,
    /** False if the limit is reached. */
    acquire(key: Key, amount = 1): boolean {
      if (amount < min) return true;
      if (isReached(key)) return false;
      used.set(key, (used.get(key) ?? 0) + amount);
      return true;
    },
    release(key: Key, amount = 1): void {
      if (amount < min) return;
      const left = (used.get(key) ?? 0) - amount;
      if (left > 0) used.set(key, left);
      else used.delete(key);
    },
  };
}

export type Backlog = ReturnType<typeof createBacklog>;

/** The bounded queue of an event stream, or of a socket whose client reads slowly. */
export function createBacklog({ config, connections }: GatewayParts, { subject }: Viewer) {
  const { socketQueueEvents, socketQueueBytes } = config.limits;
  const { unread } = connections;
  /** As text: all subscribers' strings share the payload, but each one's bytes would be a copy. */
  const waiting: string[] = [];
  let waitingBytes = 0;
  /** The length of the message that was taken last. */
  let sending = 0;
  let allSent = Promise.withResolvers<void>();

  return {
    /** False if it is full, or the viewer has too much unread. The transport may also hold results of queries. */
    put(text: string): boolean {
      if (!unread.acquire(subject, text.length)) return false;
      if (waiting.length === 0 && sending === 0) allSent = Promise.withResolvers<void>();
      waitingBytes += text.length;
      // A single event may wait, however large: a client that resumes would otherwise never get it.
      if (waiting.push(text) === 1) return true;
      return waiting.length <= socketQueueEvents && waitingBytes <= socketQueueBytes;
    },
    /** The next message, once the one before is sent. Undefined if none waits: the client has caught up. */
    take(): string | undefined {
      unread.release(subject, sending);
      const text = waiting.shift();
      sending = text?.length ?? 0;
      waitingBytes -= sending;
      if (text === undefined) allSent.resolve();
      return text;
    },
    /** Drops the messages that wait. */
    clear(): void {
      for (const { length } of waiting.splice(0)) unread.release(subject, length);
      waitingBytes = 0;
    },
    /** Resolves once all messages are sent. Undefined if they are. */
    get caughtUp(): Promise<void> | undefined {
      return waiting.length > 0 || sending > 0 ? allSent.promise : undefined;
    },
  };
}

/** More than this are a mistake or an attack. Nine tenths may be sockets and streams. */
const MAX_CONNECTIONS = 33_334;
/** For the store and the server itself. Without them the system refuses every connection. */
const OWN_FILES = 64;
const LIMITS_FILE = '/proc/self/limits';

/** Below the system's limit of open files, so that a webhook is still accepted when thousands are open. */
export function maxConnections({ upstream: { maxConcurrency } }: Config): number {
  // Not every system shows its limit.
  const limits = existsSync(LIMITS_FILE) ? readFileSync(LIMITS_FILE, 'utf8') : '';
  const files = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  return Math.max(16, Math.min(MAX_CONNECTIONS, files - OWN_FILES - maxConcurrency));
}
