import type { Position } from '../store/event-log.ts';
import type { EventHub, HistoryPage } from './event-hub.ts';
import { matches, needsPlace, placeByOwnIds, type EventFilter } from './filter.ts';
import type { PartnerEvent } from './partner-event.ts';

const STRETCH = 500;
/** A filter that nothing matches must not read a week of events in one query. */
const MAX_SCANNED = 10_000;

/** The next events after a position that a filter takes, in the log's order. */
export async function historyOf(
  source: Pick<EventHub, 'scan' | 'placeOf'>,
  after: Position,
  filter: EventFilter,
  limit: number,
): Promise<HistoryPage> {
  const isWanted = async (event: PartnerEvent): Promise<boolean> => {
    const place = needsPlace(filter, event) ? await source.placeOf(event) : placeByOwnIds(event);
    return matches(filter, event, place);
  };
  const events: PartnerEvent[] = [];
  let scannedTo = after;
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += STRETCH) {
    const stretch = await source.scan(scannedTo, STRETCH);
    if (stretch.scannedTo === scannedTo) return { events, hasMore: false, scannedTo };
    for (const event of stretch.events) {
      if (!(await isWanted(event))) continue;
      if (events.length === limit) return { events, hasMore: true, scannedTo: event.position - 1 };
      events.push(event);
    }
    scannedTo = stretch.scannedTo;
  }
  return { events, hasMore: true, scannedTo };
}
