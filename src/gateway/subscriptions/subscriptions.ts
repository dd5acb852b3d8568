import { hash } from 'node:crypto';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

import { type ValidatedSubscriptionArgs, createSourceEventStream } from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';

import { steadyNow } from '../../clock.ts';
import { StoreUnavailable } from '../../errors.ts';
import { EventsExpired } from '../../events/event-hub.ts';
import { type EventFilter, matches } from '../../events/filter.ts';
import type { PartnerEvent } from '../../events/partner-event.ts';
import type { SubscriptionStart } from '../../resolvers/event-log.ts';
import { PartnerError } from '../../rest/errors.ts';
import type { Position } from '../../store/store.ts';
import { upTo } from '../../cache-limit.ts';
import { type Viewer, hasExpired } from '../../viewer/viewer.ts';
import { requestRejected } from '../client-error.ts';
import type { GatewayContext, GatewayParts } from '../gateway.ts';
import { type Backlog, createLimit } from '../open-connections.ts';
import { type EventResult, createEventResults } from './event-results.ts';

/** An event is retried for this long after its receipt, or after its operation's first failure. Then it is left out. */
const MAX_OUTAGE_MS = 15 * 60_000;
/** An outage ends unnoticed while no client listens, so it is forgotten a minute later than that without a failure. */
const OUTAGE = { ...upTo(10_000), ttl: MAX_OUTAGE_MS + 60_000, updateAgeOnGet: true };

/** Executions that run ahead of the delivered one: a replay must not take a round trip for each event. */
const MAX_EXECUTING = 16;

/**
 * Messages that are made before the first of them is sent. An event for 5,000 subscribers then takes 0.72 to 0.94 of the
 * CPU, probably since the system wakes a reader less often. Their memory limits how many.
 */
const BURST = 64;

/** Executions that start in one turn of the event loop: an event may be for thousands of different documents. */
const MAX_STARTS = 32;

/** Where a subscription's results are sent. It limits what may wait. */
export interface Sink {
  /** The messages that wait for the client to read, if any. */
  readonly backlog: Backlog | undefined;
  /** Builds the message and returns a function that sends it. */
  prepare(json: string): () => void;
  /** Makes the client reconnect and resume by its cursor. */
  end(): void;
}

/** Subscriptions that get the same events at the same time: one while it replays, and then all equal ones. */
class Receivers extends Set<Subscription> {
  /** Called when the last one has ended. */
  onEmpty: (() => void) | undefined;
}

/** All running subscriptions. `sizes`: the characters of each viewer's documents and variables, which stay in memory. */
interface Running {
  readonly running: Set<Subscription>;
  readonly sizes: ReturnType<typeof createLimit<string>>;
}
const TOO_MUCH = requestRejected(
  429,
  'The documents and variables of your subscriptions take too much memory: complete some first.',
);

/** A running subscription of one client. It is small, since there are thousands. */
export class Subscription {
  readonly viewer: Viewer;
  readonly sink: Sink;
  receivers = new Receivers([this]);
  /** Events up to this position are not delivered: they were replayed, or the subscription began later. */
  after: Position;
  readonly #size: number;
  readonly #all: Running;

  constructor(viewer: Viewer, sink: Sink, after: Position, size: number, all: Running) {
    this.viewer = viewer;
    this.sink = sink;
    this.after = after;
    this.#size = size;
    this.#all = all;
    all.running.add(this);
  }

  /** Ends immediately, replaying or live. */
  end(): void {
    if (this.#all.running.delete(this)) this.#all.sizes.release(this.viewer.subject, this.#size);
    if (this.receivers.delete(this) && this.receivers.size === 0) this.receivers.onEmpty?.();
  }
}

export type Subscriptions = ReturnType<typeof createSubscriptions>;

/** All running subscriptions. Those with the same document, variables and reach share their executions. */
export function createSubscriptions(parts: GatewayParts) {
  const { services, metrics, maskError } = parts;
  const { hub, audit } = services;
  const resultOf = createEventResults(parts);
  const sizes = createLimit<string>(100_000 * parts.config.limits.socketsPerViewer);
  const all: Running = { running: new Set(), sizes };
  metrics.watch(() => ({ subscriptions: all.running.size }));
  /** The subscriptions that have caught up, by the key of their operation. */
  const live = new Map<string, Receivers>();
  /** When an operation first failed to decide who may see an event, since its last success. Reconnecting keeps it. */
  const outages = new LRUCache<string, number>({ ...OUTAGE, memoMethod: () => steadyNow() });

  /** Executions so far, of all subscriptions: every `MAX_STARTS` of them wait for another turn. */
  let starts = 0;
  let turn: Promise<void> = Promise.resolve();
  function turnToStart(): Promise<void> {
    if (starts % MAX_STARTS === 0) turn = turn.then(() => nextTurn());
    starts += 1;
    return turn;
  }

  /** Executes events in parallel, and delivers results in the log's order. */
  function createQueue(operation: SharedOperation, receivers: Receivers, isReplay: boolean) {
    const { key, name } = operation;
    const waiting: PartnerEvent[] = [];
    let executing = 0;
    let delivered: Promise<void> = Promise.resolve();

    function add(event: PartnerEvent): void {
      // Their clients resume by their cursors.
      if (waiting.push(event) > 10_000) interruptAll(receivers);
      executeNext();
    }

    function executeNext(): void {
      if (receivers.size === 0) waiting.length = 0;
      const event = executing < MAX_EXECUTING ? waiting.shift() : undefined;
      if (!event) return;
      executing += 1;
      const executed = resultWhenPossible(event);
      executed.catch(() => undefined); // Handled in its turn: what came before is delivered first.
      delivered = delivered.then(async () => {
        const result = await executed;
        // A replay is as fast as its client reads. It has one receiver.
        for (const { sink } of isReplay ? receivers : [])
          while (sink.backlog?.caughtUp) await sink.backlog.caughtUp;
        deliver(event, result);
        executing -= 1;
        executeNext();
      });
      delivered.catch(fail);
    }

    /** Tries again while it can't be decided who may see the event. Later events wait for it. */
    async function resultWhenPossible(event: PartnerEvent) {
      await turnToStart();
      for (let pauseMs = 1_000; ; pauseMs = Math.min(2 * pauseMs, 15_000)) {
        try {
          const result = await resultOf(event, operation);
          // Only other events need a list to decide, so only their success ends the outage.
          if (!('sessionId' in event)) outages.delete(key);
          return result;
        } catch (error) {
          if (!(error instanceof PartnerError) || receivers.size === 0) throw error;
          const endsAt = Math.max(outages.memo(key), event.receivedAt) + MAX_OUTAGE_MS;
          if (error.code === 'QUERY_TOO_EXPENSIVE' || steadyNow() > endsAt) {
            parts.log.error('an event was left out', { name, code: error.code });
            metrics.eventsLeftOut();
            return undefined;
          }
          await delay(pauseMs, undefined, { ref: false });
        }
      }
    }

    function deliver({ position }: PartnerEvent, result?: EventResult): void {
      if (!result || result.length === 0) return;
      const { records, denied } = result;
      const json = result.text ?? JSON.stringify(result.largeResponse);
      // Their clients resume by their cursors, with new tokens.
      for (const subscription of receivers) if (hasExpired(subscription.viewer)) subscription.end();
      const receiving = [...receivers].filter(({ after }) => position > after);
      const subjects = receiving.map(({ viewer }) => viewer.subject);
      metrics.eventsDelivered(subjects.length);
      audit?.delivered({ operation: name, records, outcome: 'delivered' }, subjects);
      audit?.delivered({ operation: name, records: denied, outcome: 'denied' }, subjects);
      for (let at = 0; at < receiving.length; at += BURST) {
        const sends = receiving.slice(at, at + BURST).map(({ sink }) => sink.prepare(json));
        for (const send of sends) send();
      }
    }

    /** Ends the subscriptions: going on would leave a gap unnoticed. */
    function fail(error: unknown): void {
      if (receivers.size === 0) return;
      // Clients resume after these: the log no longer reaches back so far, or its store is down.
      const isExpected = error instanceof EventsExpired || error instanceof StoreUnavailable;
      if (!isExpected) parts.onUnexpected(error);
      interruptAll(receivers);
    }

    return {
      add,
      fail,
      async drained(): Promise<void> {
        while (executing > 0) await delivered;
      },
    };
  }

  function liveReceivers(operation: SharedOperation): Receivers {
    const { key, filter } = operation;
    const known = live.get(key);
    if (known) return known;
    const receivers = new Receivers();
    const stop = hub.subscribe(filter, createQueue(operation, receivers, false).add);
    receivers.onEmpty = () => {
      stop();
      live.delete(key);
    };
    live.set(key, receivers);
    return receivers;
  }

  /** Delivers what the subscription has missed. Then it joins those that have caught up. */
  async function replayAndJoin(subscription: Subscription, operation: SharedOperation) {
    const { receivers, viewer } = subscription;
    const queue = createQueue(operation, receivers, true);
    try {
      while (subscription.after < hub.position) {
        const scan = () => hub.scan(subscription.after);
        const { events, scannedTo } = await hub.oneAtATime(viewer.subject, scan);
        events.filter((event) => matches(operation.filter, event)).forEach(queue.add);
        await queue.drained();
        if (receivers.size === 0) return;
        subscription.after = scannedTo;
      }
    } catch (error) {
      return queue.fail(error);
    }
    // Nothing is awaited after the loop's last condition, so no event is missed.
    subscription.receivers = liveReceivers(operation).add(subscription);
  }

  return {
    /** For `subscribe`: checks access, and opens the field's stream of events. */
    async subscribe({ contextValue }: { readonly contextValue?: unknown }) {
      const context = contextValue as Required<GatewayContext>;
      const { operation, viewer, requestId, resolverContext } = context;
      const source = await createSourceEventStream({
        ...(operation.args as ValidatedSubscriptionArgs),
        contextValue: resolverContext,
      });
      if (!isAsyncIterable(source)) {
        // Without their paths, since there is no data for them to point into.
        const errors = source.errors ?? [];
        return { errors: errors.map((e) => maskError(e.originalError ?? e, requestId)) };
      }
      // graphql returns what the field's `subscribe` returned.
      const { filter, position } = source as unknown as SubscriptionStart;
      const shared = sharedOperation(context, filter);
      if (!all.sizes.acquire(viewer.subject, shared.size)) return { errors: [TOO_MUCH] };
      const subscription = new Subscription(viewer, context.sink, position, shared.size, all);
      void replayAndJoin(subscription, shared);
      return subscription;
    },
    /** Called when the log was lost: all running subscriptions belong to the old one. */
    endAll: () => interruptAll(all.running),
  };
}

/** What is executed for all equal subscriptions (those with the same key), with the viewer of one of them. */
function sharedOperation(context: Required<GatewayContext>, filter: EventFilter) {
  const { operation, viewer, params } = context;
  const { name, estimated, args } = operation;
  const document = hash('sha256', params.query!, 'base64url');
  // Leaves out the cursor to resume from: no other argument below `Subscription` has its type.
  const variables = Object.values(args.variableValues.sources)
    .filter(({ signature }) => !String(signature.type).startsWith('EventCursor'))
    .map(({ value }) => ({ value }));
  const values = JSON.stringify([args.operation.name?.value, variables]);
  const key = `${document}\n${viewer.reach.key}\n${values}`;
  // Leaves out the context, which would keep the first one's connection in memory, and variables that are not declared.
  const unused = { contextValue: undefined, rawVariableValues: undefined };
  const shared = { ...args, ...unused } as ValidatedSubscriptionArgs;
  const size = params.query!.length + values.length;
  return { key, size, args: shared, name, estimated, viewer, filter };
}
export type SharedOperation = Readonly<ReturnType<typeof sharedOperation>>;

function interruptAll(subscriptions: Iterable<Subscription>): void {
  for (const subscription of Array.from(subscriptions)) {
    subscription.end();
    subscription.sink.end();
  }
}
