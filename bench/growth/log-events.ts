import type { NewEvent, Store } from '../../src/store/store.ts';
import { noteReady } from '../events.ts';
import { idOf } from '../world.ts';

export const BATCH = 500;

/** Appends the events `from` to `to`, `to` not included. Microseconds an event. */
export async function write({ log }: Store, from: number, to: number): Promise<number> {
  let appendMs = 0;
  for (let next = from; next < to; next += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, to - next) }, (_, i) => next + i);
    const events = numbers.map(eventOf);
    const startedAt = performance.now();
    await log.append(events);
    appendMs += performance.now() - startedAt;
  }
  return (appendMs * 1_000) / (to - from);
}

/** Microseconds an event, for so many of them. */
export async function readUs({ log }: Store, after: number, count: number): Promise<number> {
  const startedAt = performance.now();
  let read = 0;
  while (read < count) {
    const events = (await log.read(after + read, BATCH)).events;
    if (events.length === 0) throw new Error(`${count} events must be read, but only ${read} were`);
    read += events.length;
  }
  return ((performance.now() - startedAt) * 1_000) / read;
}

function eventOf(n: number): NewEvent {
  return {
    key: `progress_note_generated:${idOf('note', n)}`,
    receivedAt: Date.now(),
    subject: `session:${idOf('session', n)}`,
    body: noteReady(n).body,
  };
}
