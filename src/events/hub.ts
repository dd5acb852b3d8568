import type { EventLog, StoredEvent } from '../store/event-log.ts';
import type { QuarantineEntry } from '../store/store.ts';
import type { EventHub, EventListener } from './event-hub.ts';
import { placeByOwnIds, type Place, type PlaceOf } from './filter.ts';
import { followLog } from './follow-log.ts';
import { historyOf } from './history.ts';
import { createLogReader } from './log-reader.ts';
import { isSessionEvent, type PartnerEvent } from './partner-event.ts';
import { persistently } from './persistence.ts';
import { createAttempt, willPass } from './poison.ts';
import { fromStored } from './stored-event.ts';
import { createSubscriptionIndex } from './subscription-index.ts';

export type { EventHub, EventListener, HistoryPage } from './event-hub.ts';

export type HubProblem =
  /** The store is out of reach; the hub goes on trying. */
  | 'follow'
  /** Events were lost to this instance: live subscribers must be told to read anew. */
  | 'lost'
  /** An entry of the log that this version can't read, and skipped. */
  | 'unreadable'
  | 'before'
  | 'place'
  | 'listener';

export interface HubParts {
  readonly log: EventLog;
  /** Drops what the events make stale. No listener hears of an event until this is done. */
  readonly before: (events: readonly PartnerEvent[]) => void | Promise<void>;
  readonly placeOf: PlaceOf;
  /** Keeps an event that can't be handled, for an operator to look at and replay. */
  readonly setAside: (entry: QuarantineEntry) => Promise<void>;
  readonly onProblem: (problem: HubProblem, error?: unknown) => void;
}

const NONE: ReadonlySet<PartnerEvent> = new Set();

/** Hears what comes after this moment. What came before is read from the log. */
export async function openHub(parts: HubParts): Promise<EventHub> {
  const { log, onProblem } = parts;
  const index = createSubscriptionIndex<EventListener>();
  const closing = new AbortController();
  let { newest: position, epoch } = await log.bounds();
  const reader = createLogReader(log, () => epoch);

  const placeOf = (event: PartnerEvent): Promise<Place> =>
    persistently(
      () => parts.placeOf(event),
      placeByOwnIds(event),
      closing.signal,
      () => true,
      (error) => onProblem('place', error),
    );

  const beforeFailed = (error: unknown): void => onProblem('before', error);
  const { setAside } = parts;
  const { signal } = closing;
  const attemptBefore = createAttempt({ setAside, onFailure: beforeFailed, signal });
  const attemptTelling = createAttempt({
    setAside,
    onFailure: (error) => onProblem('listener', error),
    signal,
  });

  /** Which of them can't be handled. A store that is down is waited for a while, and then done without. */
  async function before(events: readonly PartnerEvent[]): Promise<ReadonlySet<PartnerEvent>> {
    try {
      await persistently(
        () => parts.before(events),
        undefined,
        closing.signal,
        willPass,
        beforeFailed,
      );
      return NONE;
    } catch (error) {
      beforeFailed(error);
    }
    // Each by itself, so that one does not fail the others.
    const handled = await Promise.all(events.map(beforeOne));
    return new Set(events.filter((_, i) => !handled[i]));
  }

  const beforeOne = async (event: PartnerEvent): Promise<boolean> => {
    const handle = async (): Promise<true> => {
      await parts.before([event]);
      return true;
    };
    return (await attemptBefore(event, handle).catch(() => true)) === true;
  };

  /** A reader of the log can be ahead of the listeners; the caches must not be behind it. */
  async function readAhead<T extends PartnerEvent>(events: readonly T[]): Promise<readonly T[]> {
    const ahead = events.filter((event) => event.position > position);
    if (ahead.length > 0) await before(ahead);
    return events;
  }

  async function deliver(batch: readonly StoredEvent[]): Promise<void> {
    const events = batch.map(fromStored);
    const readable = events.filter((event) => event !== undefined);
    const poisonous = await before(readable);
    const unplaced = readable.filter((event) => !isSessionEvent(event));
    const places = new Map<PartnerEvent, Place>(
      await Promise.all(unplaced.map(async (event) => [event, await placeOf(event)] as const)),
    );
    // From here on nothing waits: whoever subscribes finds `position` and what has been told agree.
    batch.forEach((stored, i) => {
      ({ position } = stored);
      const event = events[i];
      if (event === undefined) onProblem('unreadable');
      else if (index.size > 0 && !poisonous.has(event))
        tell(event, places.get(event) ?? placeByOwnIds(event));
    });
  }

  function tell(event: PartnerEvent, place: Place): void {
    for (const subscription of index.receivers(event, place)) {
      if (!subscription.active) continue;
      const listen = () => subscription.listener(event, place);
      try {
        listen()?.catch((error: unknown) => tellAgain(event, error, listen));
      } catch (error) {
        tellAgain(event, error, listen);
      }
    }
  }

  /** Behind the others, which don't wait for it. */
  function tellAgain(event: PartnerEvent, failure: unknown, listen: () => void | Promise<void>) {
    let failed = false;
    attemptTelling(event, () => {
      if (failed) return listen();
      failed = true;
      throw failure;
    }).catch((error: unknown) => onProblem('listener', error));
  }

  async function recheck(): Promise<void> {
    const bounds = await log.bounds();
    const reaches = bounds.oldest <= position && position <= bounds.newest;
    if (bounds.epoch === epoch && reaches) return;
    ({ newest: position, epoch } = bounds);
    onProblem('lost');
  }

  const following = followLog({
    log,
    position: () => position,
    deliver,
    recheck,
    onFailure: (error) => onProblem('follow', error),
  });

  return {
    get position() {
      return position;
    },
    ...reader,
    newestCursor: () => reader.cursorAt(position),
    subscribe: (filter, listener) => index.add(filter, listener),
    async history(after, filter, limit) {
      const page = await historyOf({ scan: reader.scan, placeOf }, after, filter, limit);
      await readAhead(page.events);
      return page;
    },
    ofSession: async (sessionId) => readAhead(await reader.ofSession(sessionId)),
    placeOf,
    attempt: attemptTelling,
    async [Symbol.asyncDispose]() {
      closing.abort();
      await following[Symbol.asyncDispose]();
    },
  };
}
