import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  openHub,
  type EventHub,
  type EventPosition,
  type HubParts,
} from '../../../src/events/event-hub.ts';
import { readEnvelope, toNewEvent } from '../../../src/events/partner-event.ts';
import { createSealer } from '../../../src/sealed-text.ts';
import { openEmbedded } from '../../../src/store/sqlite/open.ts';
import type { EventLog, QuarantineEntry } from '../../../src/store/store.ts';
import { bytesOf } from './deliveries.ts';

export const eventCursors = createSealer<EventPosition>('a secret for tests', 'event position');

/** A hub over a real log, with the problems it reported. */
export async function openTestHub(log: EventLog, parts: Partial<HubParts> = {}) {
  const problems: string[] = [];
  const aside: QuarantineEntry[] = [];
  const hub = await openHub({
    log,
    cursors: eventCursors,
    apply: () => undefined,
    addToQuarantine: async (entry) => void aside.push(entry),
    onProblem: (reason) => void problems.push(reason),
    onLost: () => undefined,
    ...parts,
  });
  return { hub, problems, aside, [Symbol.asyncDispose]: () => hub[Symbol.asyncDispose]() };
}

/** Appends deliveries as the webhook handler would. */
export async function append(log: EventLog, ...deliveries: readonly unknown[]): Promise<void> {
  const entries = deliveries.flatMap((json) => {
    const now = Date.now();
    const envelope = readEnvelope(bytesOf(json), now);
    if (envelope.kind !== 'events') throw new Error(`expected events, but got ${envelope.kind}`);
    return envelope.events.map((facts) => toNewEvent(facts, now, envelope.sentAt));
  });
  await log.append(entries);
}

/** The directory of a store with the events of these deliveries, for a gateway to open. The caller removes it. */
export async function createFilledStore(deliveries: readonly unknown[]): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'event-log-'));
  await using store = await openEmbedded(dir, { retentionMs: 1e9 });
  for (let at = 0; at < deliveries.length; at += 1_000)
    await append(store.log, ...deliveries.slice(at, at + 1_000));
  return dir;
}

/** An entry that only another version of the gateway can read. */
export async function appendUnreadable(log: EventLog, key: string): Promise<void> {
  await log.append([{ key, receivedAt: Date.now(), body: '{"v":9}' }]);
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Resolves once the hub has delivered every event in the log. */
export async function caughtUp(hub: EventHub, log: EventLog): Promise<void> {
  const { newest } = await log.bounds();
  let isApplied = false;
  while (!isApplied) isApplied = await hub.whenApplied(newest);
}
