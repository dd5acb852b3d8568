import { StoreUnavailable } from '../errors.ts';
import type { EventLog } from './event-log.ts';

export interface StoreOptions {
  readonly retentionMs: number;
  readonly clock?: () => number;
  /** Called with a line for the operator, without secrets. */
  readonly onProblem?: (message: string) => void;
}

/** Data that must survive a crash and be shared between instances. */
export interface Store extends AsyncDisposable {
  readonly log: EventLog;
  readonly keys: KeyStore;
  readonly bus: Bus;
  readonly quarantine: Quarantine;
  /** Checks that writes are possible and the log is readable. Rejects with `StoreUnavailable` and a reason to act on. */
  check(): Promise<void>;
  /** Resolves if the store can't be used any more in this process. It may be repaired for the next one. */
  readonly broken?: Promise<void>;
}

/** Small durable values that expire: idempotency claims, locked notes, failed sessions, places of clients. */
export interface KeyStore {
  /** Sets the value if the key is free and returns undefined; otherwise returns the value that is there. */
  claim(key: string, value: string, ttlMs: number): Promise<string | undefined>;
  /** A hint may be lost: it waits for no replica. */
  put(values: Readonly<Record<string, string>>, ttlMs: number, isHint?: true): Promise<unknown>;
  get(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** Deletes the key if it still has the value. Resolves to whether it had. */
  delete(key: string, value: string): Promise<boolean>;
}

export interface QuarantineEntry {
  readonly receivedAt: number;
  readonly reason: string;
  readonly body: string;
}

export type QuarantinedEntry = QuarantineEntry & Readonly<{ id: string }>;

/** Signed events that could not be understood or handled, for an operator to look at and replay. */
export interface Quarantine {
  add(entry: QuarantineEntry): Promise<unknown>;
  /** Oldest first, from the one after the given id on. */
  list(limit: number, after?: string): Promise<readonly QuarantinedEntry[]>;
  remove(id: string): Promise<unknown>;
  count(): Promise<number>;
}

/** Past this the oldest are removed: a faulty sender must not fill the disk. */
export const QUARANTINE_MAX_ENTRIES = 10_000;

/** Messages to the other instances. Not durable: `onGap` says when some may have been missed. */
export interface Bus {
  /**
   * Resolves when every other instance has handled the message, or after half a second. Never rejects: the change
   * behind the message has been made already.
   */
  publish(message: string): Promise<void>;
  /** Rejects with `StoreUnavailable` if other instances can't be reached: a change is not made then. */
  check(): Promise<unknown>;
  /** For one caller, which gets no messages of its own instance. `onGap` makes it drop what it has cached. */
  subscribe(handle: (message: string) => void | Promise<void>, onGap: () => void): void;
}

/** Redis if there is a URL, and otherwise the embedded store. Imports only the engine that is used. */
export const openStore = async (redisUrl: string | undefined, dir: string, options: StoreOptions) =>
  redisUrl
    ? (await import('./redis/open.ts')).openRedis(redisUrl, options)
    : (await import('./sqlite/open.ts')).openEmbedded(dir, options);

/** Runs `task` at intervals, never twice at once, without keeping the process alive. */
export function inBackground(everyMs: number, task: () => Promise<unknown>): Disposable {
  let running = false;
  async function run() {
    if (running) return;
    running = true;
    try {
      await task();
    } catch (error) {
      // A store that is down is reported by the requests that need it. Anything else is a bug.
      if (!(error instanceof StoreUnavailable)) throw error;
    } finally {
      running = false;
    }
  }
  return setInterval(() => void run(), everyMs).unref();
}
