import { steadyNow } from '../clock.ts';
import type { NewEvent, QuarantineEntry, Store } from '../store/store.ts';
import { fromStored, readEnvelope, toNewEvent } from './partner-event.ts';

/** Entries per read: each may have 256 KiB. */
const PAGE = 100;

/** Replays the quarantine after an update. Counts the deliveries that left it, their new events, and what is left. */
export async function redrive({ log, quarantine }: Store) {
  let deliveries = 0;
  let events = 0;
  let last: string | undefined;
  // No more than there are now: an event that fails again, on a running gateway, comes back.
  for (let unread = await quarantine.count(); unread > 0; unread -= PAGE) {
    for (const held of await quarantine.list(Math.min(PAGE, unread), last)) {
      last = held.id;
      const entries = entriesOf(held);
      if (!entries) continue;
      const positions = await log.append(entries);
      // Removed after the append: a crash in between leaves a copy in the quarantine, and nothing is lost.
      await quarantine.remove(held.id);
      deliveries += 1;
      events += positions.filter((position) => position > 0).length;
    }
  }
  return { deliveries, events, left: await quarantine.count() };
}

/** The entry is a webhook as received, or an event from the log that could not be handled. */
function entriesOf({ body, receivedAt }: QuarantineEntry): readonly NewEvent[] | undefined {
  // The time of the replay, since the log removes what was received long ago.
  const now = steadyNow();
  const envelope = readEnvelope(Buffer.from(body), receivedAt);
  if (envelope.kind === 'events')
    return envelope.events.map((facts) => toNewEvent(facts, now, envelope.sentAt));
  if (envelope.kind === 'unknown') return undefined;
  const { position, facts } = JSON.parse(body) as { position: number; facts: unknown };
  const event = fromStored({ position, receivedAt, body: JSON.stringify(facts) });
  if (!event) return undefined;
  const entry = toNewEvent(event, now);
  // The original is in the log, so the replayed event needs another key, which also deduplicates replays.
  return [{ ...entry, key: `redriven:${position}:${entry.key}` }];
}
