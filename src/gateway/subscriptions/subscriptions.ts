import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type ValidatedSubscriptionArgs,
  createSourceEventStream,
} from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';

import { createContext } from '../../context.ts';
import { type EventStream, EventsOverflowed } from '../../events/event-stream.ts';
import { createUsage } from '../../rest/usage.ts';
import type { Viewer } from '../../viewer/viewer.ts';
import type { GatewayContext, Operation } from '../context.ts';
import { type EventOperation, type EventResultParts, createEventResults } from './event-results.ts';
import { sharedVariables } from './shared-variables.ts';
import { type EventResult, Subscription, type SubscriptionGroup } from './subscription.ts';

export interface SubscriptionsParts extends EventResultParts {
  readonly onDelivered: (count: number) => void;
  readonly onUnexpected: (error: unknown) => void;
}

interface Group extends SubscriptionGroup {
  readonly key: string;
  members: number;
}

export type Subscriptions = ReturnType<typeof createSubscriptions>;

/** All subscriptions that run. Those with the same document, variables and reach share what is executed for them. */
export function createSubscriptions(parts: SubscriptionsParts) {
  const { services } = parts;
  const resultOf = createEventResults(parts);
  const groups = new Map<string, Group>();
  const numberOf = createNumbering();
  const running = new Set<Subscription>();
  let lastNumber = 0;

  function onFailure(error: unknown): void {
    if (!(error instanceof EventsOverflowed)) parts.onUnexpected(error);
  }

  function openGroup(key: string, operation: EventOperation): Group {
    const live = new Set<Subscription>();
    /** Reads the stream of those that are live. */
    let reader: Subscription | undefined;

    function deliverToAll(result: EventResult): void {
      const receivers = [...live].filter(({ since }) => result.position > since);
      if (receivers.length === 0) return;
      group.onDelivered(
        receivers.map(({ subject }) => subject!),
        result,
      );
      for (const { sink } of receivers) void sink?.deliver(result);
    }

    const group: Group = {
      key,
      members: 0,
      resultOf: (event) => resultOf(event, operation),
      join(subscription, source) {
        subscription.since = services.hub.position;
        live.add(subscription);
        if (reader && !reader.isOver) {
          void source.return();
          return;
        }
        reader = new Subscription(source, group, undefined, services.hub.generation);
        reader.sink = { deliver: deliverToAll, interrupt: () => interruptAll(live) };
        void reader.read();
      },
      onDelivered(subjects, { records }) {
        parts.onDelivered(subjects.length);
        services.audit?.delivered(subjects, operation.name, records);
      },
      onFailure,
      onEnd(subscription) {
        if (subscription === reader) return;
        running.delete(subscription);
        live.delete(subscription);
        if (live.size === 0) void reader?.return();
        group.members -= 1;
        if (group.members === 0) groups.delete(key);
      },
    };
    groups.set(key, group);
    return group;
  }

  function groupOf(
    operation: Operation,
    viewer: Viewer,
    transport: GatewayContext['transport'],
    { filter }: EventStream,
  ): Group {
    const { name, estimated, args } = operation;
    const key = `${numberOf(args.document)}\n${viewer.reach}\n${sharedVariables(args)}`;
    const known = groups.get(key);
    if (known) return known;
    lastNumber += 1;
    // Without the context, which holds on to the first member's connection.
    const shared = { ...args, contextValue: undefined } as ValidatedSubscriptionArgs;
    const number = lastNumber;
    const execution = {
      number,
      args: shared,
      name,
      estimated,
      viewer,
      transport: transport!,
      filter,
    };
    return openGroup(key, execution);
  }

  return {
    /** For `subscribe`: checks what the viewer may see, and opens the field's own stream of events. */
    async subscribe({ contextValue }: ExecutionArgs): Promise<Subscription | ExecutionResult> {
      const context = contextValue as Required<GatewayContext>;
      const { operation, requester, transport, requestId } = context;
      // The context lives as long as the subscription, and this is not needed any more.
      context.operation = undefined;
      const usage = createUsage({ maxCalls: parts.maxUpstreamCalls, requestId });
      const source = await createSourceEventStream({
        ...(operation!.args as ValidatedSubscriptionArgs),
        contextValue: createContext(services, requester, usage, transport, operation!),
      });
      if (!isAsyncIterable(source)) return { errors: source.errors?.map(withoutPath) ?? [] };
      const stream = source as unknown as EventStream;
      const group = groupOf(operation!, requester, transport, stream);
      group.members += 1;
      const subscription = new Subscription(
        stream,
        group,
        requester.subject,
        services.hub.generation,
      );
      running.add(subscription);
      context.subscription = subscription;
      return subscription;

      function withoutPath(error: { readonly originalError: Error | undefined }) {
        return parts.maskError(error.originalError ?? error, requestId);
      }
    },
    /** The log was lost: subscriptions of the old one can't go on. Those that were opened since can. */
    endOutdated(): void {
      const { generation } = services.hub;
      interruptAll([...running].filter((each) => each.generation !== generation));
    },
    get size() {
      return running.size;
    },
  };
}

function interruptAll(subscriptions: Iterable<Subscription>): void {
  for (const subscription of Array.from(subscriptions)) subscription.interrupt();
}

/** The same text is the same document, for as long as it is cached. */
function createNumbering() {
  const numbers = new WeakMap<DocumentNode, number>();
  let last = 0;
  return (document: DocumentNode): number => {
    const known = numbers.get(document) ?? (last += 1);
    numbers.set(document, known);
    return known;
  };
}
