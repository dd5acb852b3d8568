import type { EventLog, LogBounds, NewEvent, StoredEvent } from '../event-log.ts';
import { OF_SUBJECT_LIMIT, dedupeWindowMs } from '../event-log.ts';
import { RecentEvents, follow } from '../follow.ts';
import type { Thread } from './thread.ts';

/** A key past the window counts as absent before it is removed, so each trim looks at some of them only. */
const SEEN_BATCHES = 20;

/** Strings and numbers side by side cross to the worker at a fraction of what objects cost. */
function flat(events: readonly NewEvent[]): (string | number)[] {
  const values: (string | number)[] = [];
  for (const { key, time = '', receivedAt, subject = '', body } of events) {
    values.push(key, time, Math.round(receivedAt), subject, body);
  }
  return values;
}

export function createEmbeddedLog(
  thread: Thread,
  retentionMs: number,
  clock: () => number,
): EventLog {
  const { epoch } = thread.opened;
  const recent = new RecentEvents(thread.opened.newest);
  const windowMs = dedupeWindowMs(retentionMs);
  let { oldest } = thread.opened;
  let trimmedTo = '';

  const bounds = (): LogBounds => ({ epoch, oldest, newest: recent.newest });

  /** Trimmed events stay in memory for a while; both ways of reading agree that they are gone. */
  async function read(after: number, limit: number): Promise<readonly StoredEvent[]> {
    const from = Math.max(after, oldest);
    return recent.after(from, limit) ?? thread.call('eventsAfter', from, limit);
  }

  return {
    epoch,
    async append(events) {
      if (events.length === 0) return [];
      if (!events.every(({ receivedAt }) => Number.isFinite(receivedAt))) {
        throw new TypeError('the time of receipt must be a number of milliseconds');
      }
      const now = clock();
      const positions = await thread.call('append', flat(events), now, now - windowMs);
      const stored = events.map(({ receivedAt, body, value }, index) => {
        const position = positions[index] ?? 0;
        return position > 0 ? { position, receivedAt, body, value } : undefined;
      });
      for (const event of stored) if (event) recent.push(event);
      recent.announce();
      return stored;
    },
    read,
    ofSubject: (subject, limit = OF_SUBJECT_LIMIT) =>
      thread.call('eventsOfSubject', subject, limit),
    bounds: () => Promise.resolve(bounds()),
    follow: (after, signal) =>
      follow(
        {
          epoch,
          recent,
          page: async (position, limit) => ({ events: await read(position, limit), ...bounds() }),
        },
        after,
        signal,
      ),
    async trim() {
      while (await thread.call('trimEvents', clock(), retentionMs));
      for (let batch = 0; batch < SEEN_BATCHES; batch += 1) {
        trimmedTo = await thread.call('trimSeen', trimmedTo, clock() - windowMs);
        if (trimmedTo === '') break;
      }
      ({ oldest } = await thread.call('bounds'));
    },
  };
}
