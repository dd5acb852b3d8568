import type { Position } from '../store/event-log.ts';
import type { EventHub } from './event-hub.ts';
import { type EventFilter, matches } from './filter.ts';

export type Replay = ReturnType<typeof createReplay>;

/**
 * The stored events after a position that match, in chunks, until the reader has caught up with this instance. Rejects
 * with EventsExpired if the log is trimmed past the reader.
 */
export function createReplay(
  hub: Pick<EventHub, 'position' | 'scan' | 'inTurn'>,
  filter: EventFilter,
  after: Position = hub.position,
  subject = '',
) {
  const replay = {
    filter,
    /** The last position that was read. An instance that is ahead of this one may have made the cursor. */
    position: after,
    /** If nothing is awaited in between, a listener that is added now gets every later event. */
    get hasCaughtUp(): boolean {
      return replay.position >= hub.position;
    },
    async *[Symbol.asyncIterator]() {
      while (!replay.hasCaughtUp) {
        const read = () => hub.scan(replay.position);
        const { events, scannedTo } = await hub.inTurn(subject, read);
        replay.position = scannedTo;
        yield events.filter((event) => matches(filter, event));
      }
    },
  };
  return replay;
}
