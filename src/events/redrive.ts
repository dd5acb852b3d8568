import type { EventLog, NewEvent } from '../store/event-log.ts';
import type { Quarantine, QuarantineEntry } from '../store/store.ts';
import { readEnvelope } from './envelope.ts';
import { redrivenEvent } from './poison.ts';

export interface Redriven {
  /** Deliveries that can be read now, and have left the quarantine. */
  readonly deliveries: number;
  /** Events that came of them, those already in the log aside. */
  readonly events: number;
  readonly left: number;
}

/** Reads the quarantine again, for when this gateway has learned what it did not understand, or handle, before. */
export async function redrive(
  log: Pick<EventLog, 'append'>,
  quarantine: Pick<Quarantine, 'list' | 'remove' | 'count'>,
): Promise<Redriven> {
  let deliveries = 0;
  let events = 0;
  for (const held of await quarantine.list(await quarantine.count())) {
    const entries = entriesOf(held);
    if (!entries) continue;
    const stored = await log.append(entries);
    // After the append: a crash in between leaves a copy in the quarantine, and nothing lost.
    await quarantine.remove(held.id);
    deliveries += 1;
    events += stored.filter((event) => event !== undefined).length;
  }
  return { deliveries, events, left: await quarantine.count() };
}

/** A webhook as it came, or an event that was in the log and could not be handled. */
function entriesOf(held: QuarantineEntry): readonly NewEvent[] | undefined {
  const envelope = readEnvelope(Buffer.from(held.body), held.receivedAt);
  if (envelope.kind === 'events') return envelope.events.map(({ entry }) => entry);
  const again = envelope.kind === 'malformed' ? redrivenEvent(held) : undefined;
  return again && [again];
}
