import { createChanges } from '../changes.ts';
import { dedupeWindowMs, stampOf } from '../dedupe.ts';
import type { EventLog, LogBounds, NewEvent, StoredEvent } from '../event-log.ts';
import { follow } from '../follow.ts';
import { createRecentEvents } from '../recent-events.ts';
import type { FlatEvents } from './append-statements.ts';
import type { Thread } from './thread.ts';

/** Strings and numbers side by side cross to the worker at a fraction of what objects cost. */
const flat = (events: readonly NewEvent[]): FlatEvents =>
  events.flatMap(({ key, armedBy, occurredAt, receivedAt, subject, body }) => [
    key,
    armedBy ?? '',
    stampOf(occurredAt),
    receivedAt,
    subject ?? '',
    body,
  ]);

export function createEmbeddedLog(
  thread: Thread,
  retentionMs: number,
  clock: () => number,
): EventLog {
  const { epoch } = thread.opened;
  const recent = createRecentEvents(thread.opened.newest);
  const changes = createChanges();
  const windowMs = dedupeWindowMs(retentionMs);
  let { oldest } = thread.opened;

  const bounds = (): LogBounds => ({ epoch, oldest, newest: recent.newest });

  /** What was trimmed lives on in memory for a while; both ways of reading agree that it is gone. */
  async function read(after: number, limit: number): Promise<readonly StoredEvent[]> {
    const from = Math.max(after, oldest);
    return recent.after(from, limit) ?? thread.call('eventsAfter', from, limit);
  }

  return {
    epoch,
    async append(events) {
      if (events.length === 0) return [];
      const now = clock();
      const positions = await thread.call('append', flat(events), now, now - windowMs);
      const stored = events.map(({ receivedAt, body }, index) => {
        const position = positions[index] ?? 0;
        return position > 0 ? { position, receivedAt, body } : undefined;
      });
      for (const event of stored) if (event) recent.push(event);
      changes.announce();
      return stored;
    },
    arm: (noteId) => thread.call('arm', noteId, clock(), clock() - windowMs),
    disarm: (noteId) => thread.call('disarm', noteId),
    read,
    ofSubject: (subject) => thread.call('eventsOfSubject', subject),
    bounds: () => Promise.resolve(bounds()),
    follow: (after) =>
      follow(
        {
          epoch,
          changes,
          page: async (position, limit) => ({ events: await read(position, limit), ...bounds() }),
        },
        after,
      ),
    async trim() {
      while (await thread.call('trimEvents', clock(), retentionMs));
      while (await thread.call('trimKeys', clock() - windowMs));
      ({ oldest } = await thread.call('bounds'));
    },
  };
}
