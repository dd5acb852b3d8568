import { StoreUnavailable } from '../errors.ts';
import type { NewEvent, StoredEvent } from '../event-log.ts';
import { OF_SUBJECT_LIMIT, TIMES_KEPT, dedupeWindowMs } from '../event-log.ts';
import { appendScript } from './log-scripts.ts';
import { LOG_KEYS } from './log-view.ts';
import type { Head, LogView } from './log-view.ts';
import { runScript } from './script.ts';
import type { Writer } from './writer.ts';

type Answer = readonly (StoredEvent | undefined)[];
type AppendReply = readonly [...Head, positions: readonly number[]];

interface Waiting extends PromiseWithResolvers<Answer> {
  readonly events: readonly NewEvent[];
}

/** A script holds up the whole server while it runs. */
const MAX_EVENTS = 200;
const MAX_WAITING = 50_000;
/** A subject's list may outlive its last event; entries that are gone are skipped. */
const GRACE_MS = 3_600_000;

/** What waits while a script is under way goes into the next one. */
export function createAppendQueue(writer: Writer, view: LogView, retentionMs: number) {
  const waiting: Waiting[] = [];
  let running: Promise<void> | undefined;

  async function appendAll(events: readonly NewEvent[]): Promise<Answer> {
    const args = events.flatMap((event) => [
      event.key,
      event.time ?? '',
      event.receivedAt,
      event.subject ?? '',
      event.body,
    ]);
    const [epoch, newest, stamp, positions] = await runScript<AppendReply>(
      writer.write,
      appendScript,
      LOG_KEYS,
      [
        ...view.known(),
        dedupeWindowMs(retentionMs),
        retentionMs + GRACE_MS,
        TIMES_KEPT,
        OF_SUBJECT_LIMIT,
        writer.replicated ? 1 : 0,
        ...args,
      ],
    );
    view.learn(epoch, newest, stamp);
    return events.map(({ receivedAt, body }, index) => {
      const position = positions[index] ?? 0;
      return position > 0 ? { position, receivedAt, body } : undefined;
    });
  }

  function takeGroup(): readonly Waiting[] {
    let size = 0;
    const end = waiting.findIndex(({ events }) => (size += events.length) > MAX_EVENTS);
    return waiting.splice(0, end === -1 ? waiting.length : Math.max(1, end));
  }

  async function run() {
    while (waiting.length > 0) {
      const group = takeGroup();
      try {
        const answers = await appendAll(group.flatMap(({ events }) => events));
        let at = 0;
        for (const { events, resolve } of group) resolve(answers.slice(at, (at += events.length)));
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    running = undefined;
  }

  return {
    append(events: readonly NewEvent[]): Promise<Answer> {
      if (events.length === 0) return Promise.resolve([]);
      if (waiting.length >= MAX_WAITING) {
        return Promise.reject(new StoreUnavailable('Redis cannot keep up with the events'));
      }
      const entry: Waiting = { events, ...Promise.withResolvers<Answer>() };
      waiting.push(entry);
      // After this turn of the loop: whatever else arrives in it shares the script.
      running ??= new Promise((resolve) => setImmediate(() => resolve(run())));
      return entry.promise;
    },
    drained: async () => running,
  };
}
