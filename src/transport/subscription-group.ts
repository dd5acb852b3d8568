import { LRUCache } from 'lru-cache';

import type { PartnerEvent } from '../events/partner-event.ts';
import type { Loaded } from '../loaded.ts';

/** Those who resume together replay the same events: what was executed a moment ago is not executed again. */
const REMEMBERED = 256;
const REMEMBERED_MS = 5_000;

type Heard = (event: PartnerEvent) => void;

export interface GroupParts {
  readonly listen: (heard: Heard) => () => void;
  /** Undefined where the viewer may not hear of it. */
  readonly execute: (event: PartnerEvent) => Promise<string | undefined>;
  readonly onEmpty: () => void;
}

export interface Group {
  /** What the event says to this group: executed once for all its members. */
  payloadOf(event: PartnerEvent): Loaded<string | undefined>;
  /** Live from now on; the answer leaves. */
  join(member: Heard): () => void;
}

interface Payload {
  readonly promise: Promise<string | undefined>;
  settled: boolean;
  value: string | undefined;
}

export function createGroup({ listen, execute, onEmpty }: GroupParts): Group {
  const members = new Set<Heard>();
  const payloads = new LRUCache<number, Payload>({ max: REMEMBERED, ttl: REMEMBERED_MS });
  let stop: (() => void) | undefined;
  let told: Promise<void> = Promise.resolve();

  function payload(event: PartnerEvent): Payload {
    const known = payloads.get(event.position);
    if (known) return known;
    const made: Payload = {
      promise: execute(event).then((value) => {
        made.settled = true;
        made.value = value;
        return value;
      }),
      settled: false,
      value: undefined,
    };
    payloads.set(event.position, made);
    return made;
  }

  /** Executions run side by side; members are told in the log's order. */
  function hear(event: PartnerEvent): void {
    const { promise } = payload(event);
    told = told.then(async () => {
      await promise;
      for (const member of members) member(event);
    });
  }

  return {
    payloadOf(event) {
      const { settled, value, promise } = payload(event);
      return settled ? value : promise;
    },
    join(member) {
      members.add(member);
      stop ??= listen(hear);
      return () => {
        members.delete(member);
        if (members.size > 0 || !stop) return;
        stop();
        stop = undefined;
        onEmpty();
      };
    },
  };
}
