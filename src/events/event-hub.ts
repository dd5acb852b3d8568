import { setTimeout as delay, setImmediate } from 'node:timers/promises';

import { LRUCache } from 'lru-cache';

import { BadInput, CodedError, StoreUnavailable } from '../errors.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Sealer } from '../sealed-text.ts';
import type { EventLog, LogBounds, Position, Quarantine, StoredEvent } from '../store/store.ts';
import { upTo } from '../cache-limit.ts';
import type { Uuid } from '../uuid.ts';
import { createListenerIndex } from './filter.ts';
import type { PartnerEvent, SessionEvent } from './partner-event.ts';
import { fromStored, sessionSubject } from './partner-event.ts';

/** What a cursor holds. The epoch shows that the log was replaced; the time, that another event has the position now. */
export type EventPosition = Pick<LogBounds, 'epoch'> & Omit<StoredEvent, 'body'>;

/** The client missed events that are gone: it has to read its data again, and to subscribe after `oldestCursor` or live. */
export class EventsExpired extends CodedError {
  /** The earliest cursor that the log can still be read from. */
  readonly oldestCursor: string;

  constructor(oldestCursor: string) {
    const message = 'The event log no longer goes back to this cursor: load your data again.';
    super('EVENTS_EXPIRED', message);
    this.oldestCursor = oldestCursor;
  }
}

type LastEvent = Pick<SessionEvent, 'clientId' | 'occurredAt' | 'position'>;
export type EventHub = Awaited<ReturnType<typeof openHub>>;

export interface HubParts {
  readonly log: EventLog;
  readonly cursors: Sealer<EventPosition>;
  /** Invalidates what the event makes stale, before it is delivered. Must not throw a `CodedError`. */
  readonly apply: (event: PartnerEvent) => void;
  readonly addToQuarantine: Quarantine['add'];
  readonly onProblem: (reason: string, failure?: { readonly error: unknown }) => void;
  /** This instance missed events: every subscription ends, and what is cached may be stale. */
  readonly onLost: () => void;
}

/** Events per read of new ones. */
const FOLLOW_BATCH = 256;
/** Events per read of stored ones: few enough not to delay other work. */
const SCAN_BATCH = 100;
/** Five tries, with a pause after each. */
const PAUSES_MS = [50, 100, 200, 400, 0];

/** Follows the log: applies and delivers each event that arrives after this moment. Earlier ones are read from it. */
export async function openHub(parts: HubParts) {
  const { log, cursors, onProblem } = parts;
  const listeners = createListenerIndex();
  const closing = new AbortController();
  const { signal } = closing;
  /** Callbacks that wait for the event at a position to be applied. */
  const waiters = new Map<() => void, Position>();
  let { newest: position, epoch } = await log.bounds();
  /** When the event at `position` was received: 0 if this process has not read it. */
  let newestAt = 0;
  let receiving: Promise<void> | undefined;
  /** The last event of each session, by the sender's time. Unless `isRead`, the log may have a later one. */
  const lastEvents = new LRUCache<Uuid, { event: LastEvent | undefined; isRead: boolean }>(
    upTo(50_000),
  );

  function recordLast({ sessionId, clientId, occurredAt, position: at }: SessionEvent): void {
    const { event: last, isRead = false } = lastEvents.get(sessionId) ?? {};
    if (last && last.occurredAt > occurredAt) return;
    if (last?.occurredAt === occurredAt && last.position > at) return;
    lastEvents.set(sessionId, { event: { clientId, occurredAt, position: at }, isRead });
  }

  /** Resolves early, without an error, when the hub is closed. */
  const pause = (ms: number) => delay(ms, undefined, { signal, ref: false }).catch(() => undefined);

  /** Events in quarantine. Each is added once, however many subscriptions fail on it, and later tried only once. */
  const quarantined = new LRUCache<string, true>(upTo(1_000));

  /**
   * A bug of the gateway may make an event fail every time. After a few tries it goes to quarantine, for an operator to
   * replay after a fix, and the result is undefined. Rejects with a transient failure.
   */
  async function runOrQuarantine<T>(event: PartnerEvent, step: string, task: () => T | Promise<T>) {
    // The key includes the time, since positions are used again after a loss of the log.
    const key = `${event.position} ${event.receivedAt}`;
    let failure: unknown;
    for (const pauseMs of quarantined.has(key) ? [0] : PAUSES_MS) {
      try {
        return await task();
      } catch (error) {
        // It comes from a store or from the Partner API, and not from a bug.
        if (error instanceof CodedError) throw error;
        onProblem(step, { error });
        failure = error;
      }
      await pause(pauseMs);
      if (signal.aborted) return undefined;
    }
    if (quarantined.has(key)) return undefined;
    quarantined.set(key, true);
    const { position: at, receivedAt, ...facts } = event;
    const kind = failure instanceof Error ? failure.constructor.name : typeof failure;
    const reason = `${facts.type}: could not be handled (${kind})`;
    const entry = { receivedAt, reason, body: JSON.stringify({ position: at, facts }) };
    // It stays in the log, even if it can't be added to the quarantine.
    await parts.addToQuarantine(entry).catch((error: unknown) => onProblem(step, { error }));
    return undefined;
  }

  /** Undefined if the event fails every time: it is then in quarantine. */
  const apply = (event: PartnerEvent) =>
    runOrQuarantine(event, 'apply', () => {
      parts.apply(event);
      return true;
    });

  async function receive(batch: readonly StoredEvent[]): Promise<void> {
    const events = batch.map(fromStored);
    const applied = await Promise.all(events.map(async (event) => event && apply(event)));
    // Nothing is awaited below, so that `position` and the delivered events agree for a new subscription.
    batch.forEach((stored, i) => {
      ({ position, receivedAt: newestAt } = stored);
      const event = events[i];
      // Another version wrote it.
      if (!event) return onProblem('unreadable');
      if ('sessionId' in event) recordLast(event);
      if (applied[i]) listeners.emit(event);
    });
    for (const [done, at] of waiters) if (at <= position) done();
  }

  async function storedOfSession(sessionId: Uuid, limit: number) {
    const stored = await log.ofSubject(sessionSubject(sessionId), limit);
    return readable(stored).filter((event) => 'sessionId' in event);
  }

  async function readClientOf(sessionId: Uuid) {
    for (const event of await storedOfSession(sessionId, SCAN_BATCH)) recordLast(event);
    const last = lastEvents.get(sessionId)?.event;
    lastEvents.set(sessionId, { event: last, isRead: true });
    return last?.clientId;
  }
  /** Reads that are under way: all events of a session may ask for its client at once. */
  const clientReads = new Map<Uuid, Promise<Uuid | null | undefined>>();

  /** True if the log still has all events after the position. A position past its end shows that the log lost its end. */
  const covers = (bounds: LogBounds, after: Position): boolean =>
    bounds.epoch === epoch && bounds.oldest <= after && after <= bounds.newest;

  const expired = ({ epoch: current, oldest }: LogBounds) =>
    new EventsExpired(cursors.seal({ epoch: current, position: oldest, receivedAt: 0 }));

  const lastRead = new Map<string, Promise<unknown>>();
  /** Runs the reads of one viewer one after another, and those of different viewers in parallel. */
  function oneAtATime<T>(subject: string, read: () => Promise<T>): Promise<T> {
    const reading: Promise<T> = (lastRead.get(subject) ?? Promise.resolve())
      .then(read, read)
      .finally(() => lastRead.get(subject) === reading && lastRead.delete(subject));
    lastRead.set(subject, reading);
    return reading;
  }

  /** The next events that this instance has applied, and the last position read. Throws EventsExpired. */
  async function scan(after: Position, limit = SCAN_BATCH) {
    await setImmediate(); // Other work comes first.
    const page = await log.read(after, Math.min(limit, SCAN_BATCH));
    if (!covers(page, after)) throw expired(page);
    const known = page.events.filter((stored) => stored.position <= position);
    return { events: readable(known), scannedTo: known.at(-1)?.position ?? after };
  }

  /** The log was replaced (flushed, restored, failed over to a lagging copy), or trimmed past our position. */
  function resetTo(bounds: LogBounds): void {
    ({ newest: position, epoch } = bounds);
    newestAt = 0;
    lastEvents.clear();
    onProblem('lost');
    parts.onLost();
  }

  /** Runs until the hub is closed, whatever happens to the log. */
  async function follow(): Promise<void> {
    let isReported = false;
    while (!signal.aborted) {
      try {
        const page = await log.read(position, FOLLOW_BATCH);
        if (signal.aborted) return;
        if (!covers(page, position)) resetTo(page);
        else if (page.events.length > 0) {
          receiving = receive(page.events);
          await receiving;
        }
        if (position >= page.newest || page.events.length === 0) await log.changed(position);
        isReported = false;
      } catch (error) {
        // A store that is down is reported by the requests that need it.
        if (!isReported && !(error instanceof StoreUnavailable)) {
          onProblem('follow', { error });
          isReported = true;
        }
        await pause(250);
      }
    }
  }

  void follow();

  return {
    /** Everything up to here has been applied on this instance, and queued for its subscriptions. */
    get position(): Position {
      return position;
    },
    /** Resolves when this instance has applied the event, or after a second: to whether it has. */
    async whenApplied(at: Position): Promise<boolean> {
      if (at <= position) return true;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiters.set(resolve, at);
      using _ = setTimeout(resolve, 1_000).unref();
      await promise;
      waiters.delete(resolve);
      return at <= position;
    },
    cursorAt: (at: Position, receivedAt = at === position ? newestAt : 0): string =>
      cursors.seal({ epoch, position: at, receivedAt }),
    /** Live events only; a replay begins earlier. The returned function unsubscribes. */
    subscribe: listeners.add,
    /** Where a cursor points. Throws EventsExpired if the log does not reach back to it, or BadInput. */
    async resume(cursor: string): Promise<Position> {
      const decoded = cursors.open(cursor);
      if (decoded === undefined) throw new BadInput('"after" must be an event cursor, but is not');
      const { receivedAt, position: at } = decoded;
      const { events, ...bounds } = await log.read(Math.max(0, at - 1), 1);
      const stored = events.find((event) => event.position === at);
      // If this process began after the log lost its end, another event may have the position by now.
      const isOther = receivedAt > 0 && stored && stored.receivedAt !== receivedAt;
      if (decoded.epoch !== epoch || isOther || !covers(bounds, at)) throw expired(bounds);
      return at;
    },
    /** The position before the oldest stored event: where to begin without a cursor. */
    oldestPosition: async (): Promise<Position> => (await log.bounds()).oldest,
    oneAtATime,
    scan,
    /** The newest `limit` events of a session, oldest first, without those that are not applied yet. */
    ofSession: async (sessionId: Uuid, limit: number) =>
      (await storedOfSession(sessionId, limit)).filter((event) => event.position <= position),
    /** The client that the session's last event names; undefined without events, and null if the log can't be read. */
    clientIdFromLog(sessionId: Uuid): MaybePromise<Uuid | null | undefined> {
      const { event, isRead } = lastEvents.get(sessionId) ?? {};
      if (isRead) return event?.clientId;
      const read = clientReads.get(sessionId) ?? readClientOf(sessionId).catch(() => null);
      clientReads.set(sessionId, read);
      return read.finally(() => clientReads.delete(sessionId));
    },
    runOrQuarantine,
    async [Symbol.asyncDispose](): Promise<void> {
      closing.abort();
      await receiving;
    },
  };
}

const readable = (stored: readonly StoredEvent[]): readonly PartnerEvent[] =>
  stored.map(fromStored).filter((event) => event !== undefined);
