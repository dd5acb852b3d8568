import type { EventHub } from '../events/event-hub.ts';
import { type EventFilter, matches, needsPlace, placeByOwnIds } from '../events/filter.ts';
import type { PartnerEvent } from '../events/partner-event.ts';
import { subscribeFrom } from '../events/replay.ts';
import type { Position } from '../store/event-log.ts';
import type { Payload } from './payload.ts';
import type { Group } from './subscription-group.ts';

/** Executions that run ahead of the one which is delivered: a resume must not take a round trip for each event. */
const AHEAD = 16;

export interface Replay {
  readonly hub: EventHub;
  readonly group: Group;
  readonly filter: EventFilter;
  readonly after: Position;
  /** Whose replay it is: few of one viewer's run at once. */
  readonly subject: string;
  readonly deliver: (payload: Payload) => void | Promise<void>;
  /** Nothing has been delivered past `since`: everything later comes live. */
  readonly join: (since: Position) => void;
  readonly signal: AbortSignal;
}

/** Delivers what lies past `after` at the reader's own pace, then joins the group with no gap and no repeat. */
export async function replayThenJoin(replay: Replay): Promise<void> {
  const { hub, group, filter, after, signal } = replay;
  let next: PartnerEvent[] = [];

  const source = {
    get position() {
      return hub.position;
    },
    placeOf: hub.placeOf,
    async scan(from: Position, limit: number) {
      const stretch = await hub.scan(from, limit, replay.subject);
      next = stretch.events.filter((event) => isSurelyWanted(event, filter));
      return stretch;
    },
    // Called in the moment in which the replay has caught up with the hub, or is ahead of it.
    subscribe() {
      replay.join(Math.max(after, hub.position));
      return () => {};
    },
  };

  const runAhead = (position: Position): void => {
    next = next.filter((event) => event.position > position);
    // Past the hub's own position the caches may not know of an event yet.
    const known = next.slice(0, AHEAD).filter((event) => event.position <= hub.position);
    for (const event of known) void group.payloadOf(event);
  };

  const listener = async (event: PartnerEvent): Promise<void> => {
    const made = group.payloadOf(event);
    runAhead(event.position);
    const payload = await made;
    if (payload && !signal.aborted) await replay.deliver(payload);
  };
  await subscribeFrom(source, after, filter, listener, signal);
}

/** Where the lineage has to be asked first, nothing is executed on a guess. */
const isSurelyWanted = (event: PartnerEvent, filter: EventFilter): boolean =>
  !needsPlace(filter, event) && matches(filter, event, placeByOwnIds(event));
