import { dedupeWindowMs, stampOf } from '../dedupe.ts';
import { StoreUnavailable } from '../errors.ts';
import type { NewEvent, StoredEvent } from '../event-log.ts';
import type { Thread } from './thread.ts';

type Stored = readonly (StoredEvent | undefined)[];

interface Group {
  readonly events: NewEvent[];
  readonly stored: Promise<Stored>;
}

const GROUP_MAX_EVENTS = 1_000;
/** A disk that stalls must not turn into memory that grows. */
const WAITING_MAX_EVENTS = 50_000;

/** Strings and numbers side by side cross to the worker at a fraction of what objects cost. */
function flat(events: readonly NewEvent[]): (string | number)[] {
  const values: (string | number)[] = [];
  for (const { key, armedBy = [], occurredAt, receivedAt, subject = '', body } of events) {
    values.push(key, armedBy.join(' '), stampOf(occurredAt), Math.round(receivedAt), subject, body);
  }
  return values;
}

/** All appends that wait for the worker go to it as one. `onStored` hears of each group before its callers. */
export function createAppendGroups(
  thread: Thread,
  retentionMs: number,
  clock: () => number,
  onStored: (events: Stored) => void,
): (events: readonly NewEvent[]) => Promise<Stored> {
  let open: Group | undefined;
  let waiting = 0;

  async function send(events: readonly NewEvent[]): Promise<Stored> {
    try {
      const positions = await thread.callLate('append', () => {
        open = undefined;
        const now = clock();
        return [flat(events), now, now - dedupeWindowMs(retentionMs)];
      });
      const stored = events.map(({ receivedAt, body }, index) => {
        const position = positions[index] ?? 0;
        return position > 0 ? { position, receivedAt, body } : undefined;
      });
      onStored(stored);
      return stored;
    } finally {
      waiting -= events.length;
    }
  }

  function groupFor(events: readonly NewEvent[]): Group {
    if (open && open.events.length + events.length <= GROUP_MAX_EVENTS) return open;
    const gathered: NewEvent[] = [];
    open = { events: gathered, stored: send(gathered) };
    return open;
  }

  return async (events) => {
    if (events.length === 0) return [];
    if (!events.every(({ receivedAt }) => Number.isFinite(receivedAt))) {
      throw new TypeError('the time of receipt must be a number of milliseconds');
    }
    if (waiting > WAITING_MAX_EVENTS) throw new StoreUnavailable('the event store is overloaded');
    waiting += events.length;
    const group = groupFor(events);
    const from = group.events.length;
    group.events.push(...events);
    const stored = await group.stored;
    return stored.slice(from, from + events.length);
  };
}
