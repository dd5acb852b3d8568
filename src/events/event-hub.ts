import type { Position } from '../store/event-log.ts';
import type { Loaded } from '../loaded.ts';
import type { Uuid } from '../uuid.ts';
import type { EventFilter, Place } from './filter.ts';
import type { PartnerEvent, SessionEvent } from './partner-event.ts';
import type { Attempt } from './poison.ts';

/** A promise that a listener returns is waited for while replaying, and not once live. */
export type EventListener = (event: PartnerEvent, place: Place) => void | Promise<void>;

export interface HistoryPage {
  readonly events: readonly PartnerEvent[];
  /** More may match past `scannedTo`: one call scans a bounded stretch of the log, matches or not. */
  readonly hasMore: boolean;
  readonly scannedTo: Position;
}

export interface LogStretch {
  readonly events: readonly PartnerEvent[];
  /** Past the last event where unreadable entries followed it; `after` itself at the log's end. */
  readonly scannedTo: Position;
}

/** This instance's ear on the log: what is in it, and what comes. */
export interface EventHub extends AsyncDisposable {
  /** Listeners have been told of everything up to here, and the caches know of it. */
  readonly position: Position;
  cursorAt(position: Position): string;
  /** Query, then subscribe after this: nothing falls between. */
  newestCursor(): string;
  /** Live only; `subscribeFrom` begins earlier. The answer ends it, at once. */
  subscribe(filter: EventFilter, listener: EventListener): () => void;
  /** Where a cursor points. Throws EventsExpired if the log does not reach back to it, or BadCursor. */
  resume(cursor: string): Promise<Position>;
  /** The place before the oldest event that is kept: where to begin without a cursor. */
  oldestPosition(): Promise<Position>;
  history(after: Position, filter: EventFilter, limit: number): Promise<HistoryPage>;
  ofSession(sessionId: Uuid): Promise<readonly SessionEvent[]>;
  /** Everything in the next stretch of the log. Throws EventsExpired if some of it is gone. */
  scan(after: Position, limit: number): Promise<LogStretch>;
  placeOf(event: PartnerEvent): Promise<Place>;
  /** As the newest event of the session in the log says. */
  clientOfSession(sessionId: Uuid): Loaded<Uuid | undefined>;
  /** For whatever is done with an event: after some failures it is set aside, and the answer undefined. */
  readonly attempt: Attempt;
}
