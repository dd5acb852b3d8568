import { setTimeout } from 'node:timers/promises';

import { LogLost, StoreUnavailable } from './errors.ts';

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
  readonly epoch: string;
}

/** An append-only, deduplicating log: embedded within one process, Redis Streams across many. */
export interface EventLog {
  /** Random, made when the log was created: a log that was lost and begun anew has another one. */
  readonly epoch: string;
  /** Dedupes and appends as one atomic, durable step. For each event its stored form, or undefined for a copy. */
  append(events: readonly NewEvent[]): Promise<readonly (StoredEvent | undefined)[]>;
  read(after: Position, limit: number): Promise<readonly StoredEvent[]>;
  /** The newest events of a subject, at most a thousand, oldest first. */
  ofSubject(subject: string, limit?: number): Promise<readonly StoredEvent[]>;
  bounds(): Promise<LogBounds>;
  /**
   * Every event after `after`, in order and in batches, for as long as it is iterated, whichever
   * instance appends. Waits out a store that is down; throws `LogLost` rather than skip anything.
   * Ends with the signal, also while it waits: `return()` of an async generator would not.
   */
  follow(after: Position, signal?: AbortSignal): AsyncIterableIterator<readonly StoredEvent[]>;
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

/** Events and the bounds they were read within, as one consistent look at the log. */
export interface LogPage extends LogBounds {
  readonly events: readonly StoredEvent[];
}

interface Followable {
  readonly epoch: string;
  page(after: Position, limit: number): Promise<LogPage>;
  /** Resolves when there may be something past the position. */
  changed(position: Position): Promise<unknown>;
}

const BATCH = 256;
const RETRY_MS = 200;

/** See `EventLog.follow`. */
export async function* follow(
  { epoch, page, changed }: Followable,
  after: Position,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<readonly StoredEvent[], undefined> {
  let position = after;
  while (!signal.aborted) {
    try {
      const read = await orAborted(page(position, BATCH), signal);
      if (!read) return;
      if (read.epoch !== epoch || position > read.newest) throw new LogLost('replaced');
      if (position < read.oldest) throw new LogLost('trimmed');
      position += read.events.length;
      if (read.events.length > 0) yield read.events;
      else await orAborted(changed(position), signal);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      await orAborted(setTimeout(RETRY_MS), signal);
    }
  }
}

/** Undefined at once when the signal aborts. Racing one promise for the whole life would leak. */
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
  const stop = () => resolve(undefined);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
