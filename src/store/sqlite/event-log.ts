import { createChanges } from '../changes.ts';
import { dedupeWindowMs } from '../dedupe.ts';
import type { EventLog, LogBounds, StoredEvent } from '../event-log.ts';
import { follow } from '../follow.ts';
import { createRecentEvents } from '../recent-events.ts';
import { createAppendGroups } from './append-groups.ts';
import type { Thread } from './thread.ts';

/** An old key is as good as gone before it is removed, so there is no hurry. */
const SWEEP_BATCHES = 20;

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

  const append = createAppendGroups(thread, retentionMs, clock, (stored) => {
    for (const event of stored) if (event) recent.push(event);
    // Not at once: whoever appended hears first, and does for all at the door what followers then need not.
    setImmediate(changes.announce);
  });

  const bounds = (): LogBounds => ({ epoch, oldest, newest: recent.newest });

  /** What was trimmed lives on in memory for a while; both ways of reading agree that it is gone. */
  async function read(after: number, limit: number): Promise<readonly StoredEvent[]> {
    const from = Math.max(after, oldest);
    return recent.after(from, limit) ?? thread.call('eventsAfter', from, limit);
  }

  return {
    epoch,
    append,
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
      for (let batch = 0; batch < SWEEP_BATCHES; batch++) {
        if (!(await thread.call('sweepKeys', clock() - windowMs))) break;
      }
      ({ oldest } = await thread.call('bounds'));
    },
  };
}
