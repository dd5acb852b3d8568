import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type ValidatedExecutionArgs,
  type ValidatedSubscriptionArgs,
  createSourceEventStream,
  print,
} from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';

import { createContext } from '../../context.ts';
import type { EventStream } from '../../events/event-stream.ts';
import { hasCode } from '../../has-code.ts';
import { createUsage } from '../../rest/usage.ts';
import type { GatewayParts } from '../gateway.ts';
import type { GatewayContext } from '../yoga.ts';
import { type EventOperation, createEventResults } from './event-results.ts';
import { type EventResult, Subscription } from './subscription.ts';

/** Clients resume after these: they were too slow, the log no longer reaches back so far, or its store is down. */
const EXPECTED = ['EVENTS_OVERFLOWED', 'EVENTS_EXPIRED', 'STORE_UNAVAILABLE'];

/** Executions that run ahead of the delivered one: a replay must not take a round trip for each event. */
const AHEAD = 16;

export type Subscriptions = ReturnType<typeof createSubscriptions>;

/** All running subscriptions. Those with the same document, variables and reach share their executions. */
export function createSubscriptions(parts: GatewayParts) {
  const { services, metrics, maskError } = parts;
  const resultOf = createEventResults(parts);
  const groups = new Map<string, ReturnType<typeof openGroup>>();
  /** Cached documents with the same text are the same object. */
  const documents = new WeakMap<DocumentNode, number>();
  let lastDocument = 0;
  const running = new Set<Subscription>();

  function openGroup(operation: EventOperation) {
    let members = 0;
    /** The stream that serves all live subscriptions, and those subscriptions. */
    let live: { readonly source: EventStream; readonly receivers: Set<Subscription> } | undefined;

    /** A replay has one receiver, and goes on when the promise resolves. */
    function deliver(result: EventResult, to: Iterable<Subscription>): void | Promise<void> {
      const receivers = [...to].filter((each) => !each.isOver && result.position > each.since);
      if (receivers.length === 0) return;
      for (const each of receivers) each.since = result.position;
      const subjects = receivers.map(({ subject }) => subject);
      const { name } = operation;
      const { records, denied } = result;
      metrics.eventsDelivered(subjects.length);
      services.audit?.delivered({ operation: name, records, outcome: 'delivered' }, subjects);
      services.audit?.delivered({ operation: name, records: denied, outcome: 'denied' }, subjects);
      return receivers.map(({ sink, head }) => sink?.deliver(result, head))[0];
    }

    /** Ends the receivers' subscriptions: going on would leave a gap unnoticed. */
    function fail(error: unknown, receivers: Iterable<Subscription>): void {
      if ([...receivers].every(({ isOver }) => isOver)) return;
      if (!EXPECTED.some((code) => hasCode(error, code))) parts.onUnexpected(error);
      interruptAll(receivers);
    }

    /** From now on the group's stream serves the subscription. True if its own source becomes that stream. */
    function join(subscription: Subscription, source: EventStream): boolean {
      subscription.source = undefined;
      if (live) {
        live.receivers.add(subscription);
        void source.return();
        return false;
      }
      live = { source, receivers: new Set([subscription]) };
      return true;
    }

    /**
     * Reads the stream to its end. Results are delivered in the order of the log, whichever execution finishes first. A
     * subscription that has replayed what it missed joins the others.
     */
    async function read(source: EventStream, replaying?: Subscription): Promise<void> {
      let receivers = replaying ? new Set([replaying]) : live!.receivers;
      let delivered: Promise<unknown> = Promise.resolve();
      let waiting = 0;
      try {
        for await (const event of source) {
          waiting += 1;
          const executed = resultOf(event, operation);
          executed.catch(() => undefined); // Handled in its turn: what came before is delivered first.
          delivered = delivered
            .then(() => executed)
            .then((result) => {
              waiting -= 1;
              const sent = result && deliver(result, receivers);
              // Past an event that the viewer may not see, too: the group's reader may be behind.
              if (replaying) replaying.since = event.position;
              if (replaying && waiting === 0 && source.isIdle) {
                if (join(replaying, source)) receivers = live!.receivers;
                replaying = undefined;
              }
              return source.isLive ? undefined : sent;
            });
          delivered.catch((error: unknown) => fail(error, receivers));
          if (waiting >= AHEAD) await delivered;
        }
      } catch (error) {
        fail(error, receivers);
      }
    }

    const group = {
      open(source: EventStream, subject: string): Subscription {
        const subscription = new Subscription(source, group, subject);
        members += 1;
        running.add(subscription);
        return subscription;
      },
      begin(subscription: Subscription): void {
        const source = subscription.source!;
        if (!source.isIdle) return void read(source, subscription);
        subscription.since = services.hub.position;
        if (join(subscription, source)) void read(source);
      },
      end(subscription: Subscription): void {
        running.delete(subscription);
        if (live?.receivers.delete(subscription) && live.receivers.size === 0) {
          void live.source.return();
          live = undefined;
        }
        members -= 1;
        if (members === 0) groups.delete(operation.key);
      },
    };
    groups.set(operation.key, group);
    return group;
  }

  function groupOf(context: Required<GatewayContext>, { filter }: EventStream) {
    const { operation, requester: viewer } = context;
    const { name, estimated, args } = operation!;
    const document = documents.get(args.document) ?? (lastDocument += 1);
    documents.set(args.document, document);
    const key = `${document}\n${viewer.reach.text}\n${sharedVariables(args)}`;
    // Without the context, which would keep the first member's connection in memory.
    const shared = { ...args, contextValue: undefined } as ValidatedSubscriptionArgs;
    return groups.get(key) ?? openGroup({ key, args: shared, name, estimated, viewer, filter });
  }

  return {
    /** For `subscribe`: checks access, and opens the field's stream of events. */
    async subscribe({ contextValue }: ExecutionArgs): Promise<Subscription | ExecutionResult> {
      const context = contextValue as Required<GatewayContext>;
      const { operation, requester, requestId } = context;
      const { maxUpstreamCalls: maxCalls } = parts.config.operation;
      const usage = createUsage({ maxCalls, requestId });
      context.usage = usage;
      const timer = setTimeout(() => usage.end(), parts.config.limits.operationMs);
      const source = await createSourceEventStream({
        ...(operation!.args as ValidatedSubscriptionArgs),
        contextValue: createContext(services, requester, usage, operation!),
      });
      clearTimeout(timer);
      if (!isAsyncIterable(source)) {
        // Without their paths, since there is no data for them to point into.
        const errors = source.errors ?? [];
        return { errors: errors.map((e) => maskError(e.originalError ?? e, requestId)) };
      }
      const stream = source as unknown as EventStream;
      const subscription = groupOf(context, stream).open(stream, requester.subject);
      // The context lives as long as the subscription, and no longer needs these.
      Object.assign(context, { operation: undefined, body: undefined, params: undefined });
      context.subscription = subscription;
      return subscription;
    },
    /** Called when the log was lost: all running subscriptions belong to the old one. */
    endAll: () => interruptAll(running),
    get size() {
      return running.size;
    },
  };
}

function interruptAll(subscriptions: Iterable<Subscription>): void {
  for (const subscription of Array.from(subscriptions)) subscription.interrupt();
}

/**
 * The operation's name and variables as a text that is the same for all subscriptions with the same results. The cursor
 * to resume from, which no other argument below `Subscription` takes, is not in it.
 */
function sharedVariables({ operation, rawVariableValues }: ValidatedExecutionArgs): string {
  const cursors = operation.variableDefinitions
    ?.filter(({ type }) => print(type).startsWith('EventCursor'))
    .map(({ variable }) => variable.name.value);
  const shared = Object.entries(rawVariableValues ?? {})
    .filter(([name]) => !cursors?.includes(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([operation.name?.value, shared]);
}
