import { CodedError } from '../errors.ts';
import type { Sealer } from '../sealed-text.ts';
import type { Position } from '../store/event-log.ts';

export type EventCursors = ReturnType<typeof createEventCursors>;

const POSITION_BYTES = 8;

/** The epoch changes when the log is lost and begins again, so that cursors of the old log are recognized. */
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
