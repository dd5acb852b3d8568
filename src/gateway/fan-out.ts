import { GraphQLError } from 'graphql';

import type { Position } from '../store/event-log.ts';
import { requireFilterAccess } from '../resolvers/access/filter-access.ts';
import {
  type EventExecutionParts,
  type Listening,
  createEventExecution,
} from './event-execution.ts';
import { replayThenJoin } from './group-replay.ts';
import { spokenOf } from './masking.ts';
import type { Payload } from './payload.ts';
import { type Refusal, refuseWith } from './refusal.ts';
import { wantedBy } from './subscription-args.ts';
import { type HeldGroup, createGroups } from './subscription-groups.ts';

export type { Listening } from './event-execution.ts';

export interface FanOutParts extends EventExecutionParts {
  readonly onDelivered: (count: number) => void;
}

/** One who gets what events say, in the log's order, each once. */
export interface Subscriber {
  /** Bounding what waits is the door's. A promise is waited for while replaying, and not once live. */
  next(payload: Payload): void | Promise<void>;
  /** There would be a gap: the client has to come back and resume by its cursor. */
  lost(): void;
  /** It did not begin, or could not be replayed to its end. */
  refused(refusal: Refusal): void;
}

/** Small: there are thousands. What it was asked with is not kept. */
export interface Subscription {
  readonly subject: string;
  readonly subscriber: Subscriber;
  since: Position;
  held: HeldGroup | undefined;
  /** While replaying only: a signal takes more memory than all the rest. */
  replaying: AbortController | undefined;
  isOver: boolean;
}

export type FanOut = ReturnType<typeof createFanOut>;

/** Subscriptions with the same document, variables and reach are one group: an event is executed once for all of it. */
export function createFanOut(parts: FanOutParts) {
  const { onDelivered, onMasked, house } = parts;
  const { hub } = house;
  const { contextFor, execute } = createEventExecution(parts);
  const { audit } = house;
  const groups = createGroups({ hub, execute, onDelivered, audit, onFailure: onMasked });
  let running = 0;

  /** Resolves once it is live. */
  async function begin(subscription: Subscription, listening: Listening): Promise<void> {
    const { filter, after: cursor, key } = wantedBy(listening.prepared.args, house.ids);
    await requireFilterAccess(filter, contextFor(listening));
    const after = cursor === undefined ? undefined : await hub.resume(cursor);
    if (subscription.isOver) return;
    const held = groups.hold(listening, key, filter);
    const { group } = held;
    subscription.held = held;
    const join = (since: Position): void => {
      subscription.since = since;
      group.join(subscription);
    };
    if (after === undefined) return join(hub.position);
    const deliver = (payload: Payload): void | Promise<void> => {
      onDelivered(1);
      audit?.delivered([subscription.subject], listening.prepared.name, payload.shows);
      return subscription.subscriber.next(payload);
    };
    const replaying = new AbortController();
    subscription.replaying = replaying;
    const { signal } = replaying;
    const { subject } = subscription;
    await replayThenJoin({ hub, group, filter, after, subject, deliver, join, signal });
    subscription.replaying = undefined;
  }

  /** At once, replaying or live. */
  function end(subscription: Subscription): void {
    if (subscription.isOver) return;
    subscription.isOver = true;
    running -= 1;
    subscription.replaying?.abort();
    const { held } = subscription;
    if (!held) return;
    held.group.leave(subscription);
    groups.release(held);
  }

  function refusalOf(thrown: unknown): Refusal {
    const originalError = thrown instanceof Error ? thrown : new Error(typeof thrown);
    const spoken = spokenOf(new GraphQLError('', { originalError }), onMasked);
    return refuseWith([spoken], spoken.extensions.code === 'INTERNAL_SERVER_ERROR' ? 500 : 400);
  }

  return {
    end,
    subscribe(listening: Listening, subscriber: Subscriber): Subscription {
      const subscription: Subscription = {
        subject: listening.viewer.subject,
        subscriber,
        since: 0,
        held: undefined,
        replaying: undefined,
        isOver: false,
      };
      running += 1;
      begin(subscription, listening).catch((error: unknown) => {
        const refusal = refusalOf(error);
        if (subscription.isOver) return;
        end(subscription);
        subscriber.refused(refusal);
      });
      return subscription;
    },
    /** Subscriptions that are running, replaying or live. */
    get size() {
      return running;
    },
  };
}
