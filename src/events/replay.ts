import type { Position } from '../store/event-log.ts';
import type { EventHub, EventListener } from './event-hub.ts';
import { type EventFilter, isCandidate } from './filter.ts';

/** Events read at once: small enough not to be noticed by other work. */
const PIECE = 100;

type Source = Pick<EventHub, 'position' | 'scan' | 'placeOf' | 'subscribe'>;

/**
 * Replays what lies past `after`, in order and at the listener's pace, then joins the live events with
 * no gap and no repeat. Resolves once live, or when the signal aborts; rejects with EventsExpired if
 * the log is trimmed past the replay, and with whatever the listener throws while replaying.
 */
export async function subscribeFrom(
  hub: Source,
  after: Position | undefined,
  filter: EventFilter,
  listener: EventListener,
  signal: AbortSignal,
  subject?: string,
): Promise<void> {
  let last = after ?? hub.position;
  while (last < hub.position && !signal.aborted) {
    const { events, scannedTo } = await hub.scan(last, PIECE, subject);
    for (const event of events) {
      if (signal.aborted) return;
      const isWanted = await isCandidate(filter, event, hub.placeOf);
      if (isWanted && !signal.aborted) await listener(event);
    }
    last = scannedTo;
  }
  if (signal.aborted) return;
  // Nothing was awaited since the loop compared positions, so no event fell between. The guard is for
  // a cursor of an instance that is ahead of this one.
  const joinedAt = last;
  const stop = hub.subscribe(filter, (event) =>
    event.position > joinedAt ? listener(event) : undefined,
  );
  signal.addEventListener('abort', stop, { once: true });
}
