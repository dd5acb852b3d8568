import type { EventLog, LogBounds, Position, StoredEvent } from '../store/event-log.ts';
import type { Uuid } from '../uuid.ts';
import type { Sealer } from '../sealed-text.ts';
import {
  type PartnerEvent,
  type SessionEvent,
  fromStored,
  isSessionEvent,
  sessionSubject,
} from './partner-event.ts';

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
  // Past the newest: the log lost its end, and numbers that were used once will be used again.
  const reaches = (bounds: LogBounds, after: Position): boolean =>
    bounds.epoch === epoch() && bounds.oldest <= after && after <= bounds.newest;
  function mustReach(bounds: LogBounds, after: Position): void {
    if (!reaches(bounds, after))
      throw new EventsExpired(cursors.encode(bounds.epoch, bounds.oldest));
  }

  return {
    reaches,
    cursorAt: (position: Position) => cursors.encode(epoch(), position),
    /** Where a cursor points. Throws EventsExpired if the log does not reach back to it, or BadCursor. */
    async resume(cursor: string): Promise<Position> {
      const decoded = cursors.decode(cursor);
      if (decoded === undefined) throw new BadCursor();
      mustReach(await log.bounds(), decoded.epoch === epoch() ? decoded.position : NOWHERE);
      return decoded.position;
    },
    /** The position before the oldest event that is kept: where to begin without a cursor. */
    oldestPosition: async (): Promise<Position> => (await log.bounds()).oldest,
    /** Nothing past `newest`: the caches may not know of it yet. */
    async scan(after: Position, limit: number, newest: Position): Promise<LogStretch> {
      const page = await log.read(after, limit);
      mustReach(page, after);
      const known = page.events.filter(({ position }) => position <= newest);
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

export type EventCursors = ReturnType<typeof createEventCursors>;

const POSITION_BYTES = 8;

/** The epoch tells a log that was lost and started anew from the one that the cursor belongs to. */
export function createEventCursors(sealer: Sealer) {
  return {
    encode(epoch: string, position: Position): string {
      const bytes = Buffer.alloc(POSITION_BYTES + Buffer.byteLength(epoch));
      bytes.writeBigUInt64BE(BigInt(position));
      bytes.write(epoch, POSITION_BYTES);
      return sealer.seal(bytes);
    },
    /** `undefined` for anything this gateway did not make. */
    decode(cursor: string): { readonly epoch: string; readonly position: Position } | undefined {
      const bytes = sealer.open(cursor);
      if (bytes === undefined) return undefined;
      const position = Number(bytes.readBigUInt64BE());
      return { epoch: bytes.toString('utf8', POSITION_BYTES), position };
    },
  };
}

/** What a client missed is gone: it reads its data anew and subscribes after `oldestCursor`, or live. */
export class EventsExpired extends Error {
  override readonly name = 'EventsExpired';
  readonly code = 'EVENTS_EXPIRED';
  /** The earliest cursor that the log can still be read from. */
  readonly oldestCursor: string;

  constructor(oldestCursor: string) {
    super('the event log no longer reaches back to this cursor');
    this.oldestCursor = oldestCursor;
  }
}

export class BadCursor extends Error {
  override readonly name = 'BadCursor';
  readonly code = 'BAD_USER_INPUT';
  readonly issues = ['after must be an event cursor as it was handed out, but got something else'];

  constructor() {
    super('the event cursor is not one that was made here');
  }
}
