import type { Position, StoredEvent } from './event-log.ts';

const MAX_EVENTS = 2_000;
const MAX_CHARACTERS = 4_000_000;

export interface RecentEvents {
  readonly newest: Position;
  /** Takes events in any order; keeps an unbroken run that ends with the newest. */
  push(event: StoredEvent): void;
  /** Undefined where memory does not reach back that far: the engine must be asked. */
  after(position: Position, limit: number): readonly StoredEvent[] | undefined;
  restart(newest: Position): void;
}

/** The end of the log in memory, so that followers and fresh cursors cost the engine nothing. */
export function createRecentEvents(newest: Position): RecentEvents {
  let events: StoredEvent[] = [];
  let last = newest;
  let characters = 0;

  function restart(position: Position) {
    events = [];
    last = position;
    characters = 0;
  }

  // Half at a time: dropping one by one would move the whole array for each event.
  function shrink() {
    events = events.slice(Math.ceil(events.length / 2));
    characters = events.reduce((sum, event) => sum + event.body.length, 0);
  }

  return {
    get newest() {
      return last;
    },
    push(event) {
      if (event.position <= last) return;
      if (event.position > last + 1) restart(event.position - 1);
      events.push(event);
      last = event.position;
      characters += event.body.length;
      while (events.length > MAX_EVENTS || (characters > MAX_CHARACTERS && events.length > 1))
        shrink();
    },
    after(position, limit) {
      const skipped = position - (last - events.length);
      if (skipped < 0 || position > last) return undefined;
      return events.slice(skipped, skipped + limit);
    },
    restart,
  };
}
