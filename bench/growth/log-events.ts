import type { NewEvent } from '../../src/store/event-log.ts';
import type { Store } from '../../src/store/store.ts';
import { recordLastingLinks } from '../../src/viewer/event-links.ts';
import { noteReady } from '../events.ts';
import { idOf } from '../world.ts';

export const BATCH = 500;

export interface Written {
  /** Microseconds an event. */
  readonly appendUs: number;
  readonly linksUs: number;
}

/** The events `from` to `to`, `to` not included, each with its session's and its note's link, as the gateway writes them. */
export async function write({ log, lineage }: Store, from: number, to: number): Promise<Written> {
  let appendMs = 0;
  let linksMs = 0;
  for (let next = from; next < to; next += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, to - next) }, (_, i) => next + i);
    const events = numbers.map(eventOf);
    const startedAt = performance.now();
    await log.append(events);
    const appendedAt = performance.now();
    for (const n of numbers) recordLastingLinks(idsOf(n), lineage);
    await lineage.flush();
    appendMs += appendedAt - startedAt;
    linksMs += performance.now() - appendedAt;
  }
  const usEach = 1_000 / (to - from);
  return { appendUs: appendMs * usEach, linksUs: linksMs * usEach };
}

/** Microseconds an event, for so many of them. */
export async function readUs({ log }: Store, after: number, count: number): Promise<number> {
  const startedAt = performance.now();
  let read = 0;
  while (read < count) {
    const events = await log.read(after + read, BATCH);
    if (events.length === 0) throw new Error(`${count} events must be read, but only ${read} were`);
    read += events.length;
  }
  return ((performance.now() - startedAt) * 1_000) / read;
}

const idsOf = (n: number) => ({
  clientId: idOf('client', Math.floor(n / 16)),
  sessionId: idOf('session', n),
  progressNoteId: idOf('note', n),
});

function eventOf(n: number): NewEvent {
  return {
    key: `progress_note_generated:${idOf('note', n)}`,
    receivedAt: Date.now(),
    subject: `session:${idOf('session', n)}`,
    body: noteReady(n).body,
  };
}
