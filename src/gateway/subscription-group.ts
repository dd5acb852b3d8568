import type { PartnerEvent } from '../events/partner-event.ts';
import type { Position } from '../store/event-log.ts';
import type { Executed } from './executions.ts';
import type { Payload } from './payload.ts';

/** Executions of one group that run side by side. */
const AT_ONCE = 16;
/** More events than this behind, the group can't go on live: its members resume by their cursors. */
const MOST_WAITING = 10_000;

export interface Member {
  /** Who it is, for the audit: one execution serves many. */
  readonly subject: string;
  /** Nothing up to here is for this member: it came later, or has replayed it. */
  readonly since: Position;
  readonly subscriber: {
    next(payload: Payload): void | Promise<void>;
    lost(): void;
  };
}

export interface GroupParts {
  readonly listen: (heard: (event: PartnerEvent) => void) => () => void;
  readonly payloadOf: (event: PartnerEvent) => Executed;
  readonly onDelivered: (count: number) => void;
  /** Told of everyone who gets a payload. */
  readonly audit: ((subjects: readonly string[], payload: Payload) => void) | undefined;
  readonly onFailure: (error: unknown) => void;
}

export interface Group {
  readonly payloadOf: (event: PartnerEvent) => Executed;
  /** Live from now on. */
  join(member: Member): void;
  leave(member: Member): void;
}

interface Begun {
  readonly position: Position;
  readonly payload: Executed;
}

/** An event is executed once for all members, and told to them in the log's order. */
export function createGroup(parts: GroupParts): Group {
  const members = new Set<Member>();
  const waiting: PartnerEvent[] = [];
  const begun: Begun[] = [];
  let stop: (() => void) | undefined;
  let telling = false;

  function hear(event: PartnerEvent): void {
    waiting.push(event);
    begin();
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
    for (let [first] = begun; first; [first] = begun) {
      try {
        tell(await first.payload, first.position);
      } catch (error) {
        // Going on would leave a gap that nobody notices.
        parts.onFailure(error);
        giveUp();
      }
      if (begun[0] === first) begun.shift();
      begin();
    }
    telling = false;
  }

  function tell(payload: Payload | undefined, position: Position): void {
    if (!payload) return;
    const subjects: string[] = [];
    for (const { since, subject } of members) if (position > since) subjects.push(subject);
    if (subjects.length === 0) return;
    // Written down, and then shown.
    parts.audit?.(subjects, payload);
    for (const { since, subscriber } of members)
      if (position > since) void subscriber.next(payload);
    parts.onDelivered(subjects.length);
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
    },
    leave(member) {
      members.delete(member);
      if (members.size > 0 || !stop) return;
      stop();
      stop = undefined;
      waiting.length = 0;
    },
  };
}
