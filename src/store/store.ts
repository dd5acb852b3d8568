import { StoreUnavailable } from '../errors.ts';

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
  check(): Promise<unknown>;
  /** Resolves if the store can't be used any more in this process. It may be repaired for the next one. */
  readonly broken?: Promise<void>;
}

/** 1, 2, 3 … in the order of appending, without gaps. 0 is before the first event. */
export type Position = number;

export interface NewEvent {
  /** Deliveries with the same key are the same event. */
  readonly key: string;
  /** If given, a known key with a new time is a new event. It has no white space. */
  readonly time?: string | undefined;
  /** Milliseconds since 1970, by the clock of the instance that accepted it. */
  readonly receivedAt: number;
  /** What the event is about, e.g. `session:<uuid>`: the index for `ofSubject`. */
  readonly subject?: string | undefined;
  /** A key of the `KeyStore` that is set in the same step, for a year: a lasting fact, e.g. that a note is locked. */
  readonly mark?: string | undefined;
  /** Opaque to the log. */
  readonly body: string;
}

export type StoredEvent = Pick<NewEvent, 'receivedAt' | 'body'> & { readonly position: Position };

export interface LogBounds {
  /** The position before the oldest event that is kept: reading after it misses nothing. */
  readonly oldest: Position;
  readonly newest: Position;
  /** A random id, made when the log was created: a log that was lost and created anew has another one. */
  readonly epoch: string;
}

/** An append-only, deduplicating log: embedded within one process, Redis Streams across many. */
export interface EventLog {
  /** For each event, one atomic, durable step. Resolves to their positions, with 0 for each copy. */
  append(events: readonly NewEvent[]): Promise<readonly Position[]>;
  /** A consistent snapshot. Readers compare the bounds: the log may have been replaced, or trimmed past their position. */
  read(after: Position, limit: number): Promise<LogBounds & { events: readonly StoredEvent[] }>;
  bounds(): Promise<LogBounds>;
  /** Resolves when there may be events past the position, from any instance. */
  changed(position: Position): Promise<unknown>;
  /** The newest events of a subject, at most `OF_SUBJECT_LIMIT`, oldest first. */
  ofSubject(subject: string, limit: number): Promise<readonly StoredEvent[]>;
  /** Removes what is past retention. */
  trim(): Promise<void>;
}

/** A key outlives its event, or a late copy would be appended again. A sender's retries end long before a week. */
export const dedupeWindowMs = (retentionMs: number) => Math.max(retentionMs, 7 * 24 * 3_600_000);

export const OF_SUBJECT_LIMIT = 1_000;

/** A year is longer than any note is edited. */
export const MARK_MS = 365 * 24 * 3_600_000;

/** A later time of receipt came from a wrong clock, and would stop trimming. Our own clock may be behind by less. */
export const CLOCK_TOLERANCE_MS = 30 * 24 * 3_600_000;

/** Small durable values that expire: idempotency claims, locked notes, failed sessions, places of clients. */
export interface KeyStore {
  /** Sets the value if the key is free and returns null; otherwise returns the value that is there. */
  claim(key: string, value: string, ttlMs: number): Promise<string | null>;
  /** `hint`: it may be lost, so the write waits for no replica. */
  put(values: Readonly<Record<string, string>>, ttlMs: number, hint?: 'hint'): Promise<unknown>;
  get(keys: readonly string[]): Promise<readonly (string | null)[]>;
  /** Deletes the key if it still has the value. Resolves to whether it had. */
  delete(key: string, value: string): Promise<boolean>;
}

export type QuarantineEntry = Readonly<{ receivedAt: number; reason: string; body: string }>;

/** Signed events that could not be understood or handled, for an operator to look at and replay. */
export interface Quarantine {
  add(entry: QuarantineEntry): Promise<unknown>;
  /** Oldest first, from the one after the given id on. */
  list(limit: number, after?: string): Promise<readonly (QuarantineEntry & { id: string })[]>;
  remove(id: string): Promise<unknown>;
  count(): Promise<number>;
}

/** Past this the oldest are removed: a faulty sender must not fill the disk. */
export const QUARANTINE_MAX_ENTRIES = 10_000;

/** Messages to the other instances. Not durable: `onGap` says when some may have been missed. */
export interface Bus {
  /** Resolves when all other instances have handled it, or after half a second. Never rejects: the change is made. */
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
export function runEvery(everyMs: number, task: () => Promise<unknown>): Disposable {
  let running: Promise<unknown> | undefined;
  return setInterval(() => {
    running ??= task()
      .catch((error: unknown) => {
        // A store that is down is reported by the requests that need it. Anything else is a bug.
        if (!(error instanceof StoreUnavailable)) throw error;
      })
      .finally(() => (running = undefined));
  }, everyMs).unref();
}
