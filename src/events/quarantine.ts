import { setTimeout as delay } from 'node:timers/promises';

import { LRUCache } from 'lru-cache';

import { steadyNow } from '../clock.ts';
import { CodedError } from '../errors.ts';
import type { NewEvent } from '../store/event-log.ts';
import type { QuarantineEntry, Store } from '../store/store.ts';
import { readEnvelope } from './envelope.ts';
import { type PartnerEvent, fromStored, toNewEvent } from './partner-event.ts';

/** Five tries, with a pause after each. */
const PAUSES_MS = [50, 100, 200, 400, 0];
/** Events in quarantine. Each is added once, however many subscriptions fail on it, and later tried only once. */
const MAX_FAILED = 1_000;

/** Resolves early, without an error, when the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
}

/**
 * A bug of the gateway may make an event fail every time. After a few tries it goes to quarantine, and other events
 * continue; an operator replays it after a fix. The returned function resolves to the task's result, or to undefined if
 * the event is in quarantine. It rejects with a transient failure.
 */
export function createRunOrQuarantine(
  addToQuarantine: (entry: QuarantineEntry) => Promise<unknown>,
  onFailure: (step: string, error: unknown) => void,
  signal: AbortSignal,
) {
  const failed = new LRUCache<string, true>({ max: MAX_FAILED });

  return async <T>(event: PartnerEvent, step: string, task: () => T | Promise<T>) => {
    // The key includes the time, since positions are used again after a loss of the log.
    const key = `${event.position} ${event.receivedAt}`;
    let failure: unknown;
    for (const pauseMs of failed.has(key) ? [0] : PAUSES_MS) {
      try {
        return await task();
      } catch (error) {
        // It comes from a store or from the Partner API, and not from a bug.
        if (error instanceof CodedError) throw error;
        onFailure(step, error);
        failure = error;
      }
      await pause(pauseMs, signal);
      if (signal.aborted) return undefined;
    }
    if (failed.has(key)) return undefined;
    failed.set(key, true);
    const { position, receivedAt, ...facts } = event;
    const kind = failure instanceof Error ? failure.constructor.name : typeof failure;
    const reason = `${facts.type}: could not be handled (${kind})`;
    const entry = { receivedAt, reason, body: JSON.stringify({ position, facts }) };
    // It stays in the log, even if it can't be added to the quarantine.
    await addToQuarantine(entry).catch((error: unknown) => onFailure(step, error));
    return undefined;
  };
}

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
