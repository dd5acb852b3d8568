import type { EventLog, Position, StoredEvent } from '../store/event-log.ts';
import type { Uuid } from '../uuid.ts';
import { BadCursor, EventsExpired, type EventCursors } from './event-cursor.ts';
import { isSessionEvent, type PartnerEvent, type SessionEvent } from './partner-event.ts';
import { fromStored, sessionSubject } from './stored-event.ts';

export interface LogStretch {
  readonly events: readonly PartnerEvent[];
  /** Past the last event where unreadable entries followed it; `after` itself at the log's end. */
  readonly scannedTo: Position;
}

/** No log reaches back to here. */
const NOWHERE: Position = -1;

/**
 * The log as typed events, and the one place that decides whether it reaches back far enough.
 * `epoch` is of the log that the hub's position belongs to: the store's may have changed since.
 */
export function createLogReader(log: EventLog, cursors: EventCursors, epoch: () => string) {
  async function mustReach(after: Position): Promise<void> {
    const bounds = await log.bounds();
    // Past the newest: the log lost its end, and numbers that were used once will be used again.
    const reaches = bounds.oldest <= after && after <= bounds.newest;
    if (bounds.epoch === epoch() && reaches) return;
    throw new EventsExpired(cursors.encode(bounds.epoch, bounds.oldest));
  }

  return {
    cursorAt: (position: Position) => cursors.encode(epoch(), position),
    /** Where a cursor points. Throws EventsExpired if the log does not reach back to it, or BadCursor. */
    async resume(cursor: string): Promise<Position> {
      const decoded = cursors.decode(cursor);
      if (decoded === undefined) throw new BadCursor();
      await mustReach(decoded.epoch === epoch() ? decoded.position : NOWHERE);
      return decoded.position;
    },
    /** The position before the oldest event that is kept: where to begin without a cursor. */
    oldestPosition: async (): Promise<Position> => (await log.bounds()).oldest,
    /** Nothing past `newest`: the caches may not know of it yet. */
    async scan(after: Position, limit: number, newest: Position): Promise<LogStretch> {
      const stored = await log.read(after, limit);
      // Positions have no gaps, so one in front means that events were trimmed meanwhile.
      if (stored[0]?.position !== after + 1) await mustReach(after);
      const known = stored.filter(({ position }) => position <= newest);
      return { events: readable(known), scannedTo: known.at(-1)?.position ?? after };
    },
    async ofSession(sessionId: Uuid, limit: number): Promise<readonly SessionEvent[]> {
      const stored = await log.ofSubject(sessionSubject(sessionId), limit);
      return readable(stored).filter(isSessionEvent);
    },
  };
}

function readable(stored: readonly StoredEvent[]): readonly PartnerEvent[] {
  return stored.map(fromStored).filter((event) => event !== undefined);
}
