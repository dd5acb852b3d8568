import { createChanges } from '../changes.ts';
import type { Changes } from '../changes.ts';
import type { LogPage } from '../follow.ts';
import type { StoredEvent } from '../event-log.ts';
import { createRecentEvents } from '../recent-events.ts';
import type { RecentEvents } from '../recent-events.ts';
import { pageScript } from './log-scripts.ts';
import { names } from './names.ts';
import { runScript } from './script.ts';

export type Entry = readonly [position: number, receivedAt: string, body: string];
type PageReply = readonly [
  epoch: string,
  oldest: number,
  newest: number,
  entries: readonly Entry[],
];
type Send = <Reply>(args: readonly string[]) => Promise<Reply>;

export const LOG_KEYS = [names.epoch, names.newest, names.events];

export const eventOf = ([position, receivedAt, body]: Entry): StoredEvent => ({
  position,
  receivedAt: Number(receivedAt),
  body,
});

/** What this instance knows of the shared log. */
export interface LogView {
  readonly epoch: string;
  readonly oldest: number;
  readonly recent: RecentEvents;
  readonly changes: Changes;
  /** The first arguments of the log's scripts: by them a log that was lost is told from ours. */
  known(): readonly (string | number)[];
  learn(epoch: string, newest: number): void;
  page(by: Send, after: number, limit: number): Promise<LogPage>;
}

export async function openLogView(send: Send): Promise<LogView> {
  const fresh = ['', 0, crypto.randomUUID(), 0, 0];
  const [first, begin, end] = await runScript<PageReply>(send, pageScript, LOG_KEYS, fresh);
  const recent = createRecentEvents(end);
  const changes = createChanges();
  const left = new Set<string>();
  let epoch = first;
  let oldest = begin;
  let highest = end;

  function learn(current: string, newest: number) {
    // Connections answer in no common order: a late answer must not bring an old log back.
    if (left.has(current)) return;
    if (current === epoch) {
      highest = Math.max(highest, newest);
      return;
    }
    left.add(epoch);
    epoch = current;
    highest = newest;
    oldest = 0;
    recent.restart(newest);
    changes.announce();
  }

  const known = () => [epoch, highest, crypto.randomUUID()];

  return {
    get epoch() {
      return epoch;
    },
    get oldest() {
      return oldest;
    },
    recent,
    changes,
    known,
    learn,
    async page(by, after, limit) {
      const args = [...known(), after, limit];
      const reply = await runScript<PageReply>(by, pageScript, LOG_KEYS, args);
      learn(reply[0], reply[2]);
      if (reply[0] === epoch) oldest = Math.max(oldest, reply[1]);
      return { epoch: reply[0], oldest: reply[1], newest: reply[2], events: reply[3].map(eventOf) };
    },
  };
}
