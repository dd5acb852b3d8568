import type { Position } from '../store/event-log.ts';
import type { EventHub } from './event-hub.ts';
import type { EventFilter } from './filter.ts';
import type { PartnerEvent } from './partner-event.ts';
import { subscribeFrom } from './replay.ts';

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
