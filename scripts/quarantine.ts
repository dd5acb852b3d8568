import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { steadyNow } from '../src/clock.ts';
import { readConfig } from '../src/config.ts';
import { fromStored, readEnvelope, toNewEvent } from '../src/events/partner-event.ts';
import { type NewEvent, type QuarantineEntry, type Store, openStore } from '../src/store/store.ts';

const SHOWN = 100;
const USAGE = `Usage:
  npm run quarantine            lists signed webhooks that were not understood, and events that could not be
                                handled: when and why, never what
  npm run quarantine -- replay  appends those that this version understands; the rest stays

With the embedded store (no REDIS_URL), stop the gateway first: only one process can open it.`;

/** Entries per read: each may have 256 KiB. */
const PAGE = 100;

/** Replays the quarantine after an update. Counts the replayed deliveries, their new events, and what is left. */
export async function redrive({ log, quarantine }: Store) {
  let deliveries = 0;
  let events = 0;
  let last: string | undefined;
  // Only the entries that are there now: a running gateway may put an event that fails again back into the quarantine.
  for (let unread = await quarantine.count(); unread > 0; unread -= PAGE) {
    for (const held of await quarantine.list(Math.min(PAGE, unread), last)) {
      last = held.id;
      const entries = entriesOf(held);
      if (!entries) continue;
      const positions = await log.append(entries);
      // Removed after the append: a crash in between leaves a copy in the quarantine, so nothing is lost.
      await quarantine.remove(held.id);
      deliveries += 1;
      events += positions.filter((position) => position > 0).length;
    }
  }
  return { deliveries, events, left: await quarantine.count() };
}

/** The entry is a webhook as received, or an event from the log that could not be handled. */
function entriesOf({ body, receivedAt }: QuarantineEntry): readonly NewEvent[] | undefined {
  // The time of the replay, because the log removes old events.
  const now = steadyNow();
  const envelope = readEnvelope(Buffer.from(body), receivedAt);
  if (envelope.kind === 'events')
    return envelope.events.map((facts) => toNewEvent(facts, now, envelope.sentAt));
  if (envelope.kind === 'unknown') return undefined;
  const { position, facts } = JSON.parse(body) as { position: number; facts: unknown };
  const event = fromStored({ position, receivedAt, body: JSON.stringify(facts) });
  if (!event) return undefined;
  const entry = toNewEvent(event, now);
  // The original is in the log, so the replayed event needs another key. The key also deduplicates replays.
  return [{ ...entry, key: `redriven:${position}:${entry.key}` }];
}

async function main([command, ...more]: readonly string[]): Promise<void> {
  if ((command !== undefined && command !== 'replay') || more.length > 0) throw new Error(USAGE);
  const { redisUrl, dataDir: dir = '', eventRetentionMs } = readConfig(process.env);
  if (!redisUrl && !dir)
    throw new Error('EVENT_STORE_DIR must be set: a sandbox without it keeps no events');
  if (!redisUrl && !existsSync(join(dir, 'events.db')))
    throw new Error(
      `EVENT_STORE_DIR must be the directory of a store, but ${resolve(dir)} has no events.db`,
    );
  await using store = await openStore(redisUrl, dir, { retentionMs: eventRetentionMs });
  if (command === 'replay') {
    const { deliveries, events, left } = await redrive(store);
    console.log(`${deliveries} replayed as ${events} new events; ${left} left`);
  } else {
    for (const { receivedAt, reason } of await store.quarantine.list(SHOWN)) {
      console.log(`${new Date(receivedAt).toISOString()}  ${reason}`);
    }
    console.log(`${await store.quarantine.count()} in quarantine`);
  }
}

if (import.meta.main)
  await main(process.argv.slice(2)).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  });
