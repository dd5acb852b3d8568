import type { Position } from '../store/event-log.ts';
import type { EventHub } from './event-hub.ts';
import { type EventFilter, matches } from './filter.ts';
import type { PartnerEvent } from './partner-event.ts';

/** The limit of live events that wait to be read. Past it the stream ends, and the reader resumes by its cursor. */
const MAX_QUEUED = 10_000;
/** Events per read: few enough not to delay other work. */
const CHUNK = 100;

/** Events as an async iterator: first a replay after a position, at the reader's pace, then live events, each once. */
export interface EventStream extends AsyncIterableIterator<PartnerEvent, undefined> {
  readonly filter: EventFilter;
  /** False while it replays. */
  readonly isLive: boolean;
  /** True if the stream is live and no event waits to be read. */
  readonly isIdle: boolean;
  return(): Promise<IteratorResult<PartnerEvent, undefined>>;
}

/** The queue is full, and going on would lose events. */
class EventsOverflowed extends Error {
  override readonly name = 'EventsOverflowed';
  readonly code = 'EVENTS_OVERFLOWED';
}

type Result = IteratorResult<PartnerEvent, undefined>;
const DONE: Result = { done: true, value: undefined };

/** Live from now on, or after a replay from `after`. Rejects with EventsExpired if the log is trimmed past the replay. */
export function openEventStream(
  hub: Pick<EventHub, 'position' | 'scan' | 'subscribe'>,
  filter: EventFilter,
  after: Position = hub.position,
  subject?: string,
): EventStream {
  const waiting: PartnerEvent[] = [];
  /** Resolves the wait for a live event. */
  let wake = (): void => {};
  /** The position that the replay has reached. Undefined once live. */
  let replayedTo: Position | undefined = after;
  /** The position where it became live. An instance that is ahead of this one may have made the cursor. */
  let joinedAt = after;
  let stop: (() => void) | undefined;
  let failure: unknown;
  let isOver = false;

  function end(error?: unknown): void {
    if (isOver) return;
    isOver = true;
    failure = error;
    stop?.();
    waiting.length = 0;
    wake();
  }

  /** Nothing is awaited between comparing positions and subscribing, so no event is missed. */
  function joinIfCaughtUp(): void {
    if (replayedTo === undefined || replayedTo < hub.position) return;
    joinedAt = replayedTo;
    replayedTo = undefined;
    stop = hub.subscribe(filter, (event) => {
      if (event.position <= joinedAt) return;
      waiting.push(event);
      if (waiting.length > MAX_QUEUED) end(new EventsOverflowed());
      wake();
    });
  }

  /** Reads the next events of the log, or waits for a live one. */
  async function more(): Promise<void> {
    joinIfCaughtUp();
    if (replayedTo === undefined) return new Promise((resolve) => (wake = resolve));
    const { events, scannedTo } = await hub.scan(replayedTo, CHUNK, subject);
    if (isOver) return;
    for (const event of events) if (matches(filter, event)) waiting.push(event);
    replayedTo = scannedTo;
  }

  joinIfCaughtUp();
  return {
    filter,
    get isLive() {
      return replayedTo === undefined;
    },
    get isIdle() {
      const hasCaughtUp = replayedTo === undefined && joinedAt <= hub.position;
      return hasCaughtUp && waiting.length === 0 && !isOver;
    },
    async next() {
      while (waiting.length === 0 && !isOver) await more().catch(end);
      if (failure !== undefined) throw failure;
      const value = waiting.shift();
      return value ? { done: false, value } : DONE;
    },
    return() {
      end();
      return Promise.resolve(DONE);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
