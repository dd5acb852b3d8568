/** 1, 2, 3 … in the order of appending, without gaps. 0 is the place before the first event. */
export type Position = number;

export interface NewEvent {
  /** What makes two deliveries the same event. */
  readonly key: string;
  /** Names without white space, of a note or its session. If one of them is armed, a known key is let through once more. */
  readonly armedBy?: readonly string[];
  /** The sender's time stamp as it came: tells a copy of an accepted event from a new one. */
  readonly occurredAt: string;
  readonly receivedAt: number;
  /** What the event is about, e.g. `session:<uuid>`: the index for `ofSubject`. */
  readonly subject?: string;
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
  readonly epoch: string;
}

/** An append-only, deduplicating log: embedded within one process, Redis Streams across many. */
export interface EventLog {
  /** Random, made when the log was created: a log that was lost and begun anew has another one. */
  readonly epoch: string;
  /** Dedupes and appends as one atomic, durable step. For each event its stored form, or undefined for a copy. */
  append(events: readonly NewEvent[]): Promise<readonly (StoredEvent | undefined)[]>;
  /** One more event `armedBy` this name will count as new although its key has been seen. */
  arm(noteId: string): Promise<void>;
  /** Takes one `arm` back: for an edit that certainly was not accepted. */
  disarm(noteId: string): Promise<void>;
  read(after: Position, limit: number): Promise<readonly StoredEvent[]>;
  /** The newest thousand events of a subject, oldest first. */
  ofSubject(subject: string): Promise<readonly StoredEvent[]>;
  bounds(): Promise<LogBounds>;
  /**
   * Every event after `after`, in order and in batches, for as long as it is iterated, whichever
   * instance appends. Waits out a store that is down; throws `LogLost` rather than skip anything.
   * `return()` settles a pending `next()` at once.
   */
  follow(after: Position): AsyncIterableIterator<readonly StoredEvent[]>;
  /** Removes what is past retention. Called in the background; here for tests. */
  trim(): Promise<void>;
}
