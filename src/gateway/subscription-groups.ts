import type { DocumentNode } from 'graphql';

import type { EventHub } from '../events/event-hub.ts';
import type { EventFilter } from '../events/filter.ts';
import type { PartnerEvent } from '../events/partner-event.ts';
import type { Audit } from '../observability/audit.ts';
import type { Listening } from './event-execution.ts';
import { type Executed, createExecutions } from './executions.ts';
import { type Group, createGroup } from './subscription-group.ts';

export interface GroupsParts {
  readonly hub: EventHub;
  readonly execute: (event: PartnerEvent, listening: Listening, filter: EventFilter) => Executed;
  readonly onDelivered: (count: number) => void;
  readonly audit: Audit | undefined;
  readonly onFailure: (error: unknown) => void;
}

export interface HeldGroup {
  readonly name: string;
  readonly group: Group;
  holders: number;
}

/** One group for each distinct document, variables and reach that somebody listens with. */
export function createGroups({ hub, execute, onDelivered, audit, onFailure }: GroupsParts) {
  const groups = new Map<string, HeldGroup>();
  const executed = createExecutions();
  const numberOf = createNumbering();
  let last = 0;

  function create(name: string, listening: Listening, filter: EventFilter): HeldGroup {
    // Short, unlike the name: the variables are in that.
    last += 1;
    const number = last;
    const operation = listening.prepared.name;
    const group = createGroup({
      listen: (heard) => hub.subscribe(filter, heard),
      payloadOf: (event) =>
        executed(`${number} ${event.position}`, () =>
          hub.attempt(event, () => execute(event, listening, filter)),
        ),
      onDelivered,
      audit: audit && ((subjects, { shows }) => audit.delivered(subjects, operation, shows)),
      onFailure,
    });
    return { name, group, holders: 0 };
  }

  return {
    /** Held while replaying too, so that those who resume together share what they execute. */
    hold(listening: Listening, key: string, filter: EventFilter): HeldGroup {
      const { prepared, viewer } = listening;
      const name = `${numberOf(prepared.args.document)}\n${viewer.reach}\n${key}`;
      const held = groups.get(name) ?? create(name, listening, filter);
      groups.set(name, held);
      held.holders += 1;
      return held;
    },
    release(held: HeldGroup): void {
      held.holders -= 1;
      if (held.holders === 0) groups.delete(held.name);
    },
  };
}

/** The same text is the same document, for as long as the documents remember it. */
function createNumbering() {
  const numbers = new WeakMap<DocumentNode, number>();
  let last = 0;
  return (document: DocumentNode): number => {
    const known = numbers.get(document);
    if (known !== undefined) return known;
    last += 1;
    numbers.set(document, last);
    return last;
  };
}
