import { GraphQLError } from 'graphql';

import type { Audit } from '../observe/audit.ts';
import { mayListen } from '../resolvers/listening.ts';
import type { Position } from '../store/event-log.ts';
import {
  type EventExecutionParts,
  type Listening,
  createEventExecution,
} from './event-execution.ts';
import { replayThenJoin } from './group-replay.ts';
import { spokenOf } from './masking.ts';
import { type Refusal, refuseWith } from './refusal.ts';
import { wantedBy } from './subscription-args.ts';
import type { Subscriber } from './subscription-group.ts';
import { createGroups } from './subscription-groups.ts';

export type { Listening } from './event-execution.ts';
export type { Subscriber } from './subscription-group.ts';

export interface FanOutParts extends EventExecutionParts {
  readonly onDelivered: (count: number) => void;
}

export interface Subscription {
  /** Settles once it is live, replay done; or with why it can't be. Never rejects. */
  readonly live: Promise<Refusal | undefined>;
  /** At once, replaying or live. */
  end(): void;
}

export type FanOut = ReturnType<typeof createFanOut>;

/** Subscriptions with the same document, variables and reach are one group: an event is executed once for all of it. */
export function createFanOut(parts: FanOutParts) {
  const { onDelivered, onMasked, house } = parts;
  const { hub } = house;
  const { contextFor, execute } = createEventExecution(parts);
  const hold = createGroups({ hub, execute, onDelivered, onFailure: onMasked });
  let running = 0;

  function subscribe(listening: Listening, subscriber: Subscriber): Subscription {
    let ended = false;
    let leave: (() => void) | undefined;
    // Only while replaying: a signal takes more memory than all the rest of a live subscription.
    let replaying: AbortController | undefined;
    running += 1;

    const begin = async (): Promise<void> => {
      const audited = house.audit
        ? auditedSubscriber(subscriber, listening, house.audit)
        : subscriber;
      const { filter, after: cursor, key } = wantedBy(listening.prepared.args);
      await mayListen(filter, contextFor(listening));
      const after = cursor === undefined ? undefined : await hub.resume(cursor);
      if (ended) return;
      const { group, release } = hold(listening, key, filter);
      leave = release;
      const join = (since: Position): void => {
        const quit = group.join({ subscriber: audited, since });
        leave = () => {
          quit();
          release();
        };
      };
      if (after === undefined) return join(hub.position);
      replaying = new AbortController();
      const { signal } = replaying;
      await replayThenJoin({
        hub,
        group,
        filter,
        after,
        subscriber: audited,
        onDelivered,
        join,
        signal,
      });
      replaying = undefined;
    };
    const end = (): void => {
      if (ended) return;
      ended = true;
      running -= 1;
      replaying?.abort();
      leave?.();
    };
    const refused = (error: unknown): Refusal => {
      end();
      return refusalOf(error);
    };
    return { live: begin().then(() => undefined, refused), end };
  }

  function refusalOf(thrown: unknown): Refusal {
    const originalError = thrown instanceof Error ? thrown : new Error(typeof thrown);
    const spoken = spokenOf(new GraphQLError('', { originalError }), onMasked);
    return refuseWith([spoken], spoken.extensions.code === 'INTERNAL_SERVER_ERROR' ? 500 : 400);
  }

  return {
    subscribe,
    /** Subscriptions that are running, replaying or live. */
    get size() {
      return running;
    },
  };
}

/** One execution serves many: who got it is written down for each of them. */
function auditedSubscriber(
  subscriber: Subscriber,
  { viewer, prepared }: Listening,
  audit: Audit,
): Subscriber {
  return {
    next(payload) {
      audit.delivered(viewer.subject, prepared.name, payload.shows);
      return subscriber.next(payload);
    },
    lost: () => subscriber.lost(),
  };
}
