import { type DocumentNode, executeSubscriptionEvent } from 'graphql';
import type { ValidatedSubscriptionArgs } from 'graphql';

import { type Door, type House, createContext } from '../context.ts';
import type { EventListener } from '../events/event-hub.ts';
import { subscribeFrom } from '../events/replay.ts';
import type { PartnerEvent } from '../events/partner-event.ts';
import { whenLoaded } from '../loaded.ts';
import { mayHear } from '../resolvers/hearing.ts';
import { mayListen } from '../resolvers/listening.ts';
import { createUsage } from '../rest/usage.ts';
import type { Viewer } from '../viewer/viewer.ts';
import { isOurs, spokenOf } from './masking.ts';
import type { Prepared } from './pipeline.ts';
import { type Refusal, refuseWith } from './refusal.ts';
import { type Group, createGroup } from './subscription-group.ts';
import { wantedBy } from './subscription-args.ts';

export interface FanOutParts {
  readonly house: House;
  readonly maxUpstreamCalls: number;
  readonly onDelivered: () => void;
  readonly onMasked: (cause: unknown) => void;
}

/** Gets each payload, an execution result as JSON, in the log's order. Bounding what waits is the door's. */
export type Sink = (payload: string) => void | Promise<void>;

export type FanOut = ReturnType<typeof createFanOut>;

/** Subscriptions with the same document, variables and reach are one group: an event is executed once for all of it. */
export function createFanOut(parts: FanOutParts) {
  const { house } = parts;
  const groups = new Map<DocumentNode, Map<string, Group>>();

  /** Resolves once the subscription is live, replay done; or with why it can't be. */
  async function subscribe(
    prepared: Prepared,
    viewer: Viewer,
    door: Door,
    sink: Sink,
    signal: AbortSignal,
  ): Promise<Refusal | undefined> {
    try {
      const { filter, after, key } = wantedBy(prepared.args);
      await mayListen(filter, contextFor(viewer, door));
      const position = after === undefined ? undefined : await house.hub.resume(after);
      const group = groupOf(prepared, viewer, door, `${viewer.reach}\n${key}`, filter);
      const listener = (event: PartnerEvent) =>
        whenLoaded(group.payloadOf(event), (payload) => {
          if (payload === undefined || signal.aborted) return;
          parts.onDelivered();
          return sink(payload);
        }) as void | Promise<void>;
      const source = {
        get position() {
          return house.hub.position;
        },
        scan: house.hub.scan,
        placeOf: house.hub.placeOf,
        subscribe: (_filter: unknown, heard: EventListener) =>
          group.join((event) => void heard(event, UNPLACED)),
      };
      await subscribeFrom(source, position, filter, listener, signal);
      return undefined;
    } catch (error) {
      if (!isOurs(error)) parts.onMasked(error);
      return refusalOf(error);
    }
  }

  function groupOf(
    prepared: Prepared,
    viewer: Viewer,
    door: Door,
    key: string,
    filter: Parameters<House['hub']['subscribe']>[0],
  ): Group {
    const { document } = prepared.args;
    const ofDocument = groups.get(document) ?? new Map<string, Group>();
    groups.set(document, ofDocument);
    const known = ofDocument.get(key);
    if (known) return known;
    const group = createGroup({
      listen: (heard) => house.hub.subscribe(filter, heard),
      execute: (event) => payloadFor(event, prepared, viewer, door),
      onEmpty() {
        if (ofDocument.get(key) === group) ofDocument.delete(key);
        if (ofDocument.size === 0) groups.delete(document);
      },
    });
    ofDocument.set(key, group);
    return group;
  }

  /** New loaders for every event: what it links to is fetched anew. */
  const contextFor = (viewer: Viewer, door: Door) =>
    createContext(house, viewer, createUsage({ maxCalls: parts.maxUpstreamCalls }), door);

  async function payloadFor(
    event: PartnerEvent,
    prepared: Prepared,
    viewer: Viewer,
    door: Door,
  ): Promise<string | undefined> {
    const contextValue = contextFor(viewer, door);
    if (!(await mayHear(event, contextValue))) return undefined;
    const result = await executeSubscriptionEvent({
      ...(prepared.args as ValidatedSubscriptionArgs),
      rootValue: event,
      contextValue,
    });
    const errors = result.errors?.map((error) => spokenOf(error, parts.onMasked));
    return JSON.stringify(errors ? { errors, data: result.data } : { data: result.data });
  }

  return { subscribe };
}

/** The group has matched the event already, so where it lies no longer matters. */
const NONE: ReadonlySet<string> = new Set();
const UNPLACED = { organizationIds: NONE, clinicIds: NONE, clinicianIds: NONE };

function refusalOf(error: unknown): Refusal {
  if (!isOurs(error)) {
    const code = 'INTERNAL_SERVER_ERROR';
    return refuseWith([{ message: 'Unexpected error.', extensions: { code } }], 500);
  }
  const { message, code } = error;
  const issues = 'issues' in error ? { issues: error.issues } : {};
  const oldest = 'oldestCursor' in error ? { oldestCursor: error.oldestCursor } : {};
  return refuseWith([{ message, extensions: { ...issues, ...oldest, code } }]);
}
