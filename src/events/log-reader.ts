import type { EventLog, Position, StoredEvent } from '../store/event-log.ts';
import type { Uuid } from '../uuid.ts';
import { BadCursor, EventsExpired } from './cursor-errors.ts';
import type { EventCursors } from './event-cursor.ts';
import type { LogStretch } from './event-hub.ts';
import { isSessionEvent, type PartnerEvent, type SessionEvent } from './partner-event.ts';
import { fromStored, sessionSubject } from './stored-event.ts';

export interface LogReader {
  readonly cursorAt: (position: Position) => string;
  readonly resume: (cursor: string) => Promise<Position>;
  readonly oldestPosition: () => Promise<Position>;
  readonly scan: (after: Position, limit: number) => Promise<LogStretch>;
  readonly ofSession: (sessionId: Uuid) => Promise<readonly SessionEvent[]>;
}

/** No log reaches back to here. */
const NOWHERE: Position = -1;

/**
 * The log as typed events, and the one place that decides whether it reaches back far enough.
 * `epoch` is of the log that the hub's position belongs to: the store's may have changed since.
 */
export function createLogReader(
  log: EventLog,
  cursors: EventCursors,
  epoch: () => string,
): LogReader {
  async function mustReach(after: Position): Promise<void> {
    const bounds = await log.bounds();
    // Past the newest: the log lost its end, and numbers that were used once will be used again.
    const reaches = bounds.oldest <= after && after <= bounds.newest;
    if (bounds.epoch === epoch() && reaches) return;
    throw new EventsExpired(cursors.encode(bounds.epoch, bounds.oldest));
  }

  return {
    cursorAt: (position) => cursors.encode(epoch(), position),
    async resume(cursor) {
      const decoded = cursors.decode(cursor);
      if (decoded === undefined) throw new BadCursor();
      await mustReach(decoded.epoch === epoch() ? decoded.position : NOWHERE);
      return decoded.position;
    },
    oldestPosition: async () => (await log.bounds()).oldest,
    async scan(after, limit) {
      const stored = await log.read(after, limit);
      // Positions have no gaps, so one in front means that events were trimmed meanwhile.
      if (stored[0]?.position !== after + 1) await mustReach(after);
      return { events: readable(stored), scannedTo: stored.at(-1)?.position ?? after };
    },
    async ofSession(sessionId) {
      return readable(await log.ofSubject(sessionSubject(sessionId))).filter(isSessionEvent);
    },
  };
}

function readable(stored: readonly StoredEvent[]): readonly PartnerEvent[] {
  return stored.map(fromStored).filter((event) => event !== undefined);
}
