import DataLoader from 'dataloader';
import { setImmediate } from 'node:timers/promises';
import { StoreUnavailable } from '../errors.ts';
import { OF_SUBJECT_LIMIT, TIMES_KEPT, dedupeWindowMs, expiredUpTo } from '../event-log.ts';
import type { EventLog, NewEvent, StoredEvent } from '../event-log.ts';
import { follow } from '../follow.ts';
import type { Connection } from './connection.ts';
import { LOG_KEYS, type Entry, type Head, type LogView, eventOf } from './log-view.ts';
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

export function createRedisLog({ view, writer, reader, retentionMs, clock }: Parts) {
  const appends = createAppends(writer, view, retentionMs);
  const recentAfter = (after: number, limit: number) =>
    after >= view.oldest ? view.recent.after(after, limit) : undefined;

  async function trimBatch(): Promise<boolean> {
    const [serverTime, rows] = await runScript<DatesReply>(
      reader.command,
      datesScript,
      [names.events],
      [TRIM_BATCH],
    );
    const dates = rows.map(([position, receivedAt]) => ({ position, receivedAt }));
    const upTo = expiredUpTo(dates, clock?.() ?? Number(serverTime), retentionMs);
    if (upTo > 0) await reader.command(['XTRIM', names.events, 'MINID', `${upTo + 1}-0`]);
    return upTo > 0 && upTo === dates[TRIM_BATCH - 1]?.position;
  }

  const log: EventLog = {
    get epoch() {
      return view.epoch;
    },
    append: appends.append,
    async read(after, limit) {
      // A full answer from memory is right; a short one may only mean that memory lags behind.
      const held = recentAfter(after, limit);
      if (held?.length === limit) return held;
      return (await view.page(reader.command, after, limit)).events;
    },
    async ofSubject(subject, limit = OF_SUBJECT_LIMIT) {
      const keys = [names.ofSubject(subject), names.events];
      return (await runScript<Entry[]>(reader.command, subjectScript, keys, [limit])).map(eventOf);
    },
    async bounds() {
      const { oldest, newest, epoch } = await view.page(reader.command, 0, 0);
      return { oldest, newest, epoch };
    },
    follow(after, signal) {
      const { epoch, recent } = view;
      return follow(
        {
          epoch,
          recent,
          async page(position, limit) {
            const events = recentAfter(position, limit);
            if (!events) return view.page(reader.command, position, limit);
            return { epoch: view.epoch, oldest: view.oldest, newest: recent.newest, events };
          },
        },
        after,
        signal,
      );
    },
    async trim() {
      while (await trimBatch());
      // Followers that read from memory need the new bounds, too.
      await view.page(reader.command, 0, 0);
    },
  };
  return { log, drained: appends.drained };
}

type Appended = readonly (StoredEvent | undefined)[];
type AppendReply = readonly [...Head, positions: readonly number[]];

/** A script blocks the whole server while it runs. */
const MAX_APPENDS = 200;
const MAX_WAITING = 50_000;
/** A subject's list may outlive its last event; entries that are gone are skipped. */
const GRACE_MS = 3_600_000;

/** What waits while a script is under way goes into the next one. */
function createAppends(writer: Writer, view: LogView, retentionMs: number) {
  let waiting = 0;
  let running: Promise<unknown> = Promise.resolve();

  async function appendAll(events: readonly NewEvent[]): Promise<Appended> {
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
        ...events.flatMap(({ key, time = '', receivedAt, subject = '', body }) => [
          key,
          time,
          receivedAt,
          subject,
          body,
        ]),
      ],
    );
    view.learn(epoch, newest, stamp);
    return events.map(({ receivedAt, body }, index) => {
      const position = positions[index] ?? 0;
      return position > 0 ? { position, receivedAt, body } : undefined;
    });
  }

  async function appendGroup(group: readonly (readonly NewEvent[])[]): Promise<Appended[]> {
    const script = appendAll(group.flat());
    running = script.catch(() => undefined);
    const stored = await script;
    let at = 0;
    return group.map((events) => stored.slice(at, (at += events.length)));
  }

  const loader = new DataLoader(appendGroup, {
    cache: false,
    maxBatchSize: MAX_APPENDS,
    // After this turn of the loop: whatever else arrives in it shares the script.
    batchScheduleFn: (dispatch) => void Promise.all([running, setImmediate()]).then(dispatch),
  });

  return {
    async append(events: readonly NewEvent[]): Promise<Appended> {
      if (events.length === 0) return [];
      if (waiting >= MAX_WAITING)
        throw new StoreUnavailable('Redis cannot keep up with the events');
      waiting += 1;
      try {
        return await loader.load(events);
      } finally {
        waiting -= 1;
      }
    },
    drained: async () => {
      while (waiting > 0) await running.then(() => setImmediate());
    },
  };
}
