import { CodedError } from '../errors.ts';
import type { Position } from '../store/event-log.ts';

/** What a cursor holds. */
export interface EventPosition {
  /** Changes when the log is lost and begins again, so that cursors of the old log are recognized. */
  readonly epoch: string;
  readonly position: Position;
}

/**
 * Some of the events that the client missed are gone. The client has to read its data again, and to subscribe after
 * `oldestCursor` or to live events only.
 */
export class EventsExpired extends CodedError {
  readonly code = 'EVENTS_EXPIRED';
  /** The earliest cursor that the log can still be read from. */
  readonly oldestCursor: string;

  constructor(oldestCursor: string) {
    super('The event log no longer goes back to this cursor: load your data again.');
    this.oldestCursor = oldestCursor;
  }
}
