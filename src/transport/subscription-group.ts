import type { PartnerEvent } from '../events/partner-event.ts';
import type { Position } from '../store/event-log.ts';
import type { Executed } from './executions.ts';
import type { Payload } from './payload.ts';

/** Executions of one group that run side by side. */
const AT_ONCE = 16;
/** More events than this behind, the group can't go on live: its members resume by their cursors. */
const MOST_WAITING = 10_000;

/** One who gets what the group's events say, in the log's order. */
export interface Subscriber {
  /** Bounding what waits is the door's. A promise is waited for while replaying, and not once live. */
  next(payload: Payload): void | Promise<void>;
  /** There would be a gap: the client has to come back and resume by its cursor. */
  lost(): void;
}

export interface Member {
  readonly subscriber: Subscriber;
  /** Nothing up to here is for this member: it came later, or has replayed it. */
  readonly since: Position;
}

export interface GroupParts {
  readonly listen: (heard: (event: PartnerEvent) => void) => () => void;
  readonly payloadOf: (event: PartnerEvent) => Executed;
  readonly onDelivered: (count: number) => void;
  readonly onFailure: (error: unknown) => void;
}

export interface Group {
  readonly payloadOf: (event: PartnerEvent) => Executed;
  /** Live from now on; the answer leaves. */
  join(member: Member): () => void;
}

interface Begun {
  readonly position: Position;
  readonly payload: Executed;
}

/** An event is executed once for all members. */
export function createGroup(parts: GroupParts): Group {
  const members = new Set<Member>();
  const waiting: PartnerEvent[] = [];
  const begun: Begun[] = [];
  let stop: (() => void) | undefined;
  let telling = false;

  function hear(event: PartnerEvent): void {
    waiting.push(event);
    if (waiting.length > MOST_WAITING) giveUp();
    else if (!telling) void tellAll();
  }

  function begin(): void {
    while (begun.length < AT_ONCE) {
      const event = waiting.shift();
      if (!event) return;
      begun.push({ position: event.position, payload: parts.payloadOf(event) });
    }
  }

  async function tellAll(): Promise<void> {
    telling = true;
    for (begin(); begun[0]; begin()) {
      const { position, payload } = begun[0];
      try {
        tell(await payload, position);
      } catch (error) {
        // Going on would leave a gap that nobody notices.
        parts.onFailure(error);
        giveUp();
      }
      begun.shift();
    }
    telling = false;
  }

  function tell(payload: Payload | undefined, position: Position): void {
    if (!payload) return;
    let told = 0;
    for (const { since, subscriber } of members) {
      if (position <= since) continue;
      void subscriber.next(payload);
      told += 1;
    }
    parts.onDelivered(told);
  }

  function giveUp(): void {
    waiting.length = 0;
    begun.length = 0;
    for (const { subscriber } of members) subscriber.lost();
  }

  return {
    payloadOf: parts.payloadOf,
    join(member) {
      members.add(member);
      stop ??= parts.listen(hear);
      return () => {
        members.delete(member);
        if (members.size > 0 || !stop) return;
        stop();
        stop = undefined;
        waiting.length = 0;
      };
    },
  };
}
