import { StoreUnavailable } from '../errors.ts';
import type { EventLog, NewEvent, StoredEvent } from '../event-log.ts';
import { OF_SUBJECT_LIMIT, TIMES_KEPT, dedupeWindowMs, expiredUpTo } from '../event-log.ts';
import { follow } from '../follow.ts';
import type { Connection } from './connection.ts';
import { LOG_KEYS, eventOf } from './log-view.ts';
import type { Entry, Head, LogView } from './log-view.ts';
import { appendScript, datesScript, names, runScript, subjectScript } from './scripts.ts';
import type { Writer } from './writer.ts';

const TRIM_BATCH = 500;

interface Parts {
  readonly view: LogView;
  readonly writer: Writer;
  readonly reader: Connection;
  readonly retentionMs: number;
  /** Only tests set it: the server's time is the same for all instances. */
  readonly clock: (() => number) | undefined;
}

type DatesReply = readonly [now: string, dates: readonly (readonly [number, number])[]];

export function createRedisLog({ view, writer, reader, ...times }: Parts) {
  const queue = createAppendQueue(writer, view, times.retentionMs);

  async function read(after: number, limit: number): Promise<readonly StoredEvent[]> {
    // A full answer from memory is right; a short one may only mean that memory lags behind.
    const held = after >= view.oldest ? view.recent.after(after, limit) : undefined;
    if (held && held.length === limit) return held;
    return (await view.page(reader.command, after, limit)).events;
  }

  async function trimBatch(): Promise<boolean> {
    const [serverTime, rows] = await runScript<DatesReply>(
      reader.command,
      datesScript,
      [names.events],
      [TRIM_BATCH],
    );
    const dates = rows.map(([position, receivedAt]) => ({ position, receivedAt }));
    const upTo = expiredUpTo(dates, times.clock?.() ?? Number(serverTime), times.retentionMs);
    if (upTo > 0) await reader.command(['XTRIM', names.events, 'MINID', `${upTo + 1}-0`]);
    return upTo > 0 && upTo === dates[TRIM_BATCH - 1]?.position;
  }

  const log: EventLog = {
    get epoch() {
      return view.epoch;
    },
    append: queue.append,
    read,
    async ofSubject(subject, limit = OF_SUBJECT_LIMIT) {
      const keys = [names.ofSubject(subject), names.events];
      return (await runScript<Entry[]>(reader.command, subjectScript, keys, [limit])).map(eventOf);
    },
    async bounds() {
      const { oldest, newest, epoch } = await view.page(reader.command, 0, 0);
      return { oldest, newest, epoch };
    },
    follow: (after) =>
      follow(
        {
          epoch: view.epoch,
          changes: view.changes,
          async page(position, limit) {
            const { epoch, oldest, recent } = view;
            const events = position >= oldest ? recent.after(position, limit) : undefined;
            if (events) return { epoch, oldest, newest: recent.newest, events };
            return view.page(reader.command, position, limit);
          },
        },
        after,
      ),
    async trim() {
      while (await trimBatch());
      // Whoever follows from memory is to know as well.
      await view.page(reader.command, 0, 0);
    },
  };
  return { log, drained: queue.drained };
}

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
function createAppendQueue(writer: Writer, view: LogView, retentionMs: number) {
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
