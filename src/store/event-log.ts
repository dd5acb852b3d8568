/** 1, 2, 3 … in the order of appending, without gaps. 0 is the place before the first event. */
export type Position = number;

export interface NewEvent {
  /** What makes two deliveries the same event. */
  readonly key: string;
  /** Where given, a known key with a time not yet accepted for it is a new event. No white space. */
  readonly time?: string | undefined;
  readonly receivedAt: number;
  /** What the event is about, e.g. `session:<uuid>`: the index for `ofSubject`. */
  readonly subject?: string | undefined;
  /** Opaque to the log. */
  readonly body: string;
}

export interface StoredEvent {
  readonly position: Position;
  readonly receivedAt: number;
  readonly body: string;
}

export interface LogBounds {
  /** The position before the oldest event that is kept: reading after it misses nothing. */
  readonly oldest: Position;
  readonly newest: Position;
  /** Random, made when the log was created: a log that was lost and begun anew has another one. */
  readonly epoch: string;
}

/** Events and the bounds they were read within, as one consistent look at the log. */
export interface LogPage extends LogBounds {
  readonly events: readonly StoredEvent[];
}

/** An append-only, deduplicating log: embedded within one process, Redis Streams across many. */
export interface EventLog {
  /** Dedupes and appends as one atomic, durable step. For each event its stored form, or undefined for a copy. */
  append(events: readonly NewEvent[]): Promise<readonly (StoredEvent | undefined)[]>;
  /** Whoever reads on and on compares the bounds: the log may have been replaced, or trimmed past its position. */
  read(after: Position, limit: number): Promise<LogPage>;
  bounds(): Promise<LogBounds>;
  /** Resolves when there may be something past the position, whichever instance appends. */
  changed(position: Position): Promise<unknown>;
  /** The newest events of a subject, at most a thousand, oldest first. */
  ofSubject(subject: string, limit?: number): Promise<readonly StoredEvent[]>;
  /** Removes what is past retention. Called in the background; here for tests. */
  trim(): Promise<void>;
}

/** A sender's retries end long before this, so a key that is older can't come back as a copy. */
const SHORTEST_WINDOW_MS = 7 * 24 * 3_600_000;

/** A key outlives its event, or a late copy would be appended next to the original. */
export const dedupeWindowMs = (retentionMs: number) => Math.max(retentionMs, SHORTEST_WINDOW_MS);

export const OF_SUBJECT_LIMIT = 1_000;

/** How many accepted times are kept for a key. */
export const TIMES_KEPT = 100;

/** A receipt further ahead than this came from a wrong clock; waiting for it would keep the log for ever. */
export const CLOCK_TOLERANCE_MS = 24 * 3_600_000;
