import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  Kind,
  type ValidatedExecutionArgs,
  type ValidatedSubscriptionArgs,
  createSourceEventStream,
  visit,
} from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';

import { createContext } from '../../context.ts';
import type { EventStream } from '../../events/event-stream.ts';
import { hasCode } from '../../has-code.ts';
import { createUsage } from '../../rest/usage.ts';
import { gatherFields } from '../../schema/selections.ts';
import type { GatewayParts } from '../gateway.ts';
import type { GatewayContext } from '../yoga.ts';
import { type EventOperation, createEventResults } from './event-results.ts';
import { type EventResult, Subscription, type SubscriptionGroup } from './subscription.ts';

/** Clients resume after these: they were too slow, the log no longer reaches back so far, or its store is down. */
const EXPECTED = ['EVENTS_OVERFLOWED', 'EVENTS_EXPIRED', 'STORE_UNAVAILABLE'];

export type Subscriptions = ReturnType<typeof createSubscriptions>;

/** All running subscriptions. Those with the same document, variables and reach share their executions. */
export function createSubscriptions(parts: GatewayParts) {
  const { services, metrics, maskError } = parts;
  const resultOf = createEventResults(parts);
  const groups = new Map<string, SubscriptionGroup>();
  /** Cached documents with the same text are the same object. */
  const documents = new WeakMap<DocumentNode, number>();
  let lastDocument = 0;
  const running = new Set<Subscription>();

  function openGroup(operation: EventOperation): SubscriptionGroup {
    const live = new Set<Subscription>();
    /** Reads the stream for all live subscriptions of the group. */
    let reader: Subscription | undefined;

    function deliverToAll(result: EventResult): void {
      const receivers = [...live].filter(({ since }) => result.position > since);
      if (receivers.length === 0) return;
      const subjects = receivers.map(({ subject }) => subject!);
      group.onDelivered(subjects, result);
      for (const { sink, head } of receivers) void sink?.deliver(result, head);
    }

    const group: SubscriptionGroup = {
      members: 0,
      resultOf: (event) => resultOf(event, operation),
      join(subscription, source) {
        subscription.since = services.hub.position;
        live.add(subscription);
        if (reader && !reader.isOver) {
          void source.return();
          return;
        }
        reader = new Subscription(source, group, undefined);
        reader.sink = { deliver: deliverToAll, interrupt: () => interruptAll(live) };
        void reader.read();
      },
      onDelivered(subjects, { records, denied }) {
        metrics.eventsDelivered(subjects.length);
        services.audit?.delivered(subjects, operation.name, records);
        if (denied.length > 0)
          services.audit?.delivered(subjects, operation.name, denied, 'denied');
      },
      onFailure(error) {
        if (!EXPECTED.some((code) => hasCode(error, code))) parts.onUnexpected(error);
      },
      onEnd(subscription) {
        if (subscription === reader) return;
        running.delete(subscription);
        live.delete(subscription);
        if (live.size === 0) void reader?.return();
        group.members -= 1;
        if (group.members === 0) groups.delete(operation.key);
      },
    };
    groups.set(operation.key, group);
    return group;
  }

  function groupOf(context: Required<GatewayContext>, { filter }: EventStream): SubscriptionGroup {
    const { operation, requester: viewer } = context;
    const { name, estimated, args } = operation!;
    const document = documents.get(args.document) ?? (lastDocument += 1);
    documents.set(args.document, document);
    const key = `${document}\n${viewer.reach.text}\n${sharedVariables(args)}`;
    // Without the context, which would keep the first member's connection in memory.
    const shared = { ...args, contextValue: undefined } as ValidatedSubscriptionArgs;
    const execution = { key, args: shared, name, estimated, viewer, filter };
    return groups.get(key) ?? openGroup(execution);
  }

  return {
    /** For `subscribe`: checks access, and opens the field's stream of events. */
    async subscribe({ contextValue }: ExecutionArgs): Promise<Subscription | ExecutionResult> {
      const context = contextValue as Required<GatewayContext>;
      const { operation, requester, requestId } = context;
      const { maxUpstreamCalls: maxCalls } = parts.config.operation;
      const usage = createUsage({ maxCalls, requestId });
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
      const group = groupOf(context, stream);
      group.members += 1;
      const subscription = new Subscription(stream, group, requester.subject);
      running.add(subscription);
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
 * to resume from is not in it.
 */
function sharedVariables(args: ValidatedExecutionArgs): string {
  const { schema, document, operation, rawVariableValues } = args;
  const [root] = gatherFields([operation.selectionSet], schema.getSubscriptionType()!, args);
  const after = root?.nodes[0]?.arguments?.find(({ name }) => name.value === 'after')?.value;
  const cursor = after?.kind === Kind.VARIABLE ? after.name.value : undefined;
  let uses = 0;
  visit(document, {
    VariableDefinition: () => false,
    Variable: ({ name }) => void (uses += name.value === cursor ? 1 : 0),
  });
  const shared = Object.entries(rawVariableValues ?? {})
    .filter(([name]) => name !== cursor || uses > 1)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([operation.name?.value, shared]);
}
