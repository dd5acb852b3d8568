/** 1, 2, 3 … in the order of appending, without gaps. 0 is before the first event. */
export type Position = number;

export interface NewEvent {
  /** Deliveries with the same key are the same event. */
  readonly key: string;
  /** If given, a known key with a new time is a new event. It has no white space. */
  readonly time?: string | undefined;
  readonly receivedAt: number;
  /** What the event is about, e.g. `session:<uuid>`: the index for `ofSubject`. */
  readonly subject?: string | undefined;
  /** A key of the `KeyStore` that is set in the same step, for a year: a lasting fact, e.g. that a note is locked. */
  readonly mark?: string | undefined;
  /** Opaque to the log. */
  readonly body: string;
}

export interface StoredEvent {
  readonly position: Position;
  /** Milliseconds since 1970, by the clock of the instance that accepted it. */
  readonly receivedAt: number;
  readonly body: string;
}

export interface LogBounds {
  /** The position before the oldest event that is kept: reading after it misses nothing. */
  readonly oldest: Position;
  readonly newest: Position;
  /** A random id, made when the log was created: a log that was lost and created anew has another one. */
  readonly epoch: string;
}

/** Events and the log's bounds, read as one consistent snapshot. */
type LogPage = LogBounds & Readonly<{ events: readonly StoredEvent[] }>;

/** An append-only, deduplicating log: embedded within one process, Redis Streams across many. */
export interface EventLog {
  /** For each event, one atomic, durable step. Resolves to their positions, with 0 for each copy. */
  append(events: readonly NewEvent[]): Promise<readonly Position[]>;
  /** A reader that follows the log compares the bounds: the log may have been replaced, or trimmed past its position. */
  read(after: Position, limit: number): Promise<LogPage>;
  bounds(): Promise<LogBounds>;
  /** Resolves when there may be events past the position, from any instance. */
  changed(position: Position): Promise<unknown>;
  /** The newest events of a subject, at most `OF_SUBJECT_LIMIT`, oldest first. */
  ofSubject(subject: string, limit: number): Promise<readonly StoredEvent[]>;
  /** Removes what is past retention. */
  trim(): Promise<void>;
}

/** A sender's retries end long before this, so a key that is older can't come back as a copy. */
const MIN_WINDOW_MS = 7 * 24 * 3_600_000;

/** A key outlives its event, or a late copy would be appended next to the original. */
export const dedupeWindowMs = (retentionMs: number) => Math.max(retentionMs, MIN_WINDOW_MS);

export const OF_SUBJECT_LIMIT = 1_000;

/** A year is longer than any note is edited. */
export const MARK_MS = 365 * 24 * 3_600_000;

/** A later time of receipt came from a wrong clock, and would keep the log from being trimmed. */
export const CLOCK_TOLERANCE_MS = 24 * 3_600_000;
