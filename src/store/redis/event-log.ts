import type { EventLog, StoredEvent } from '../event-log.ts';
import { OF_SUBJECT_LIMIT, expiredUpTo } from '../event-log.ts';
import { follow } from '../follow.ts';
import type { createAppendQueue } from './append-queue.ts';
import type { Connection } from './connection.ts';
import { datesScript, subjectScript } from './log-scripts.ts';
import { eventOf } from './log-view.ts';
import type { Entry, LogView } from './log-view.ts';
import { names } from './names.ts';
import { runScript } from './script.ts';

const TRIM_BATCH = 500;

interface Parts {
  readonly view: LogView;
  readonly queue: ReturnType<typeof createAppendQueue>;
  readonly reader: Connection;
  readonly retentionMs: number;
  /** Only tests set it: the server's time is the same for all instances. */
  readonly clock: (() => number) | undefined;
}

type DatesReply = readonly [now: string, dates: readonly (readonly [number, number])[]];

export function createRedisLog({ view, queue, reader, ...times }: Parts): EventLog {
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

  return {
    get epoch() {
      return view.epoch;
    },
    append: (events) => queue.append(events),
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
}
