import type { Position } from '../store/event-log.ts';
import type { EventHub, EventListener } from './event-hub.ts';
import { type EventFilter, isCandidate } from './filter.ts';
import type { PartnerEvent } from './partner-event.ts';

/** Live events that may wait for whoever reads the stream. Past them it ends: the reader resumes by its cursor. */
const MOST_WAITING = 10_000;

export type StreamSource = Pick<EventHub, 'position' | 'scan' | 'placeOf' | 'subscribe'>;

/** Events as an async iterator: what lies past a position, at the reader's pace, and then what comes, each once. */
export interface EventStream extends AsyncIterableIterator<PartnerEvent, undefined> {
  readonly filter: EventFilter;
  /** False while it replays. */
  readonly isLive: boolean;
  /** Live, and nothing waits to be read. */
  readonly isIdle: boolean;
  return(): Promise<IteratorResult<PartnerEvent, undefined>>;
}

/** More events came than may wait: going on would leave a gap. */
export class EventsOverflowed extends Error {
  override readonly name = 'EventsOverflowed';
}

type Result = IteratorResult<PartnerEvent, undefined>;
const DONE: Result = { done: true, value: undefined };

/** Live from now on, or from `after` where it is given. */
export function openEventStream(
  hub: StreamSource,
  filter: EventFilter,
  after: Position | undefined,
  subject?: string,
): EventStream {
  const waiting: PartnerEvent[] = [];
  let waiter: PromiseWithResolvers<Result> | undefined;
  let taken: (() => void) | undefined;
  let failure: unknown;
  let isOver = false;
  let stop: (() => void) | undefined;
  // For as long as it replays: a signal takes more memory than all the rest.
  let replaying = after === undefined ? undefined : new AbortController();

  function end(error?: unknown): void {
    if (isOver) return;
    isOver = true;
    failure = error;
    stop?.();
    replaying?.abort();
    taken?.();
    waiting.length = 0;
    if (error === undefined) waiter?.resolve(DONE);
    else waiter?.reject(error);
  }

  function put(event: PartnerEvent): void {
    if (waiter) {
      waiter.resolve({ done: false, value: event });
      waiter = undefined;
      return;
    }
    waiting.push(event);
    if (waiting.length > MOST_WAITING) end(new EventsOverflowed());
  }

  function replay(event: PartnerEvent): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    taken = resolve;
    put(event);
    if (waiting.length === 0) resolve();
    return promise;
  }

  const source: StreamSource = {
    get position() {
      return hub.position;
    },
    scan: hub.scan,
    placeOf: hub.placeOf,
    // Called in the moment in which the replay has caught up with the hub.
    subscribe(_filter, listener) {
      replaying = undefined;
      taken = undefined;
      stop = hub.subscribe(filter, listener);
      return stop;
    },
  };
  const listener = (event: PartnerEvent) => (replaying ? replay(event) : put(event));
  if (replaying)
    subscribeFrom(source, after, filter, listener, replaying.signal, subject).catch(end);
  else stop = hub.subscribe(filter, put);

  return {
    filter,
    get isLive() {
      return replaying === undefined;
    },
    get isIdle() {
      return replaying === undefined && waiting.length === 0 && !isOver;
    },
    next() {
      const event = waiting.shift();
      if (event) {
        if (waiting.length === 0) taken?.();
        return Promise.resolve({ done: false, value: event });
      }
      if (failure !== undefined) return Promise.reject(failure);
      if (isOver) return Promise.resolve(DONE);
      waiter = Promise.withResolvers<Result>();
      return waiter.promise;
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

/** Events read at once: small enough not to be noticed by other work. */
const PIECE = 100;

/**
 * Replays what lies past `after`, in order and at the listener's pace, then joins the live events with
 * no gap and no repeat. Resolves once live, or when the signal aborts; rejects with EventsExpired if
 * the log is trimmed past the replay, and with whatever the listener throws while replaying.
 */
export async function subscribeFrom(
  hub: StreamSource,
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
