import { createChanges, createRecentEvents } from '../follow.ts';
import type { Changes, LogPage, RecentEvents } from '../follow.ts';
import type { StoredEvent } from '../event-log.ts';
import { pageScript } from './log-scripts.ts';
import { names } from './names.ts';
import { runScript } from './script.ts';

export type Entry = readonly [position: number, receivedAt: string, body: string];
/** `stamp`: when the newest was received, empty if it is not there any more. */
export type Head = readonly [epoch: string, newest: number, stamp: string];
type PageReply = readonly [...Head, oldest: number, entries: readonly Entry[]];
type Send = <Reply>(args: readonly string[]) => Promise<Reply>;

/** More failovers than anybody has while an instance lives. */
const EPOCHS_LEFT = 20;

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
  learn(...head: Head): void;
  page(by: Send, after: number, limit: number): Promise<LogPage>;
}

export async function openLogView(send: Send): Promise<LogView> {
  const fresh = ['', 0, crypto.randomUUID(), '', '', 0, 0];
  const [begun, end, received, begin] = await runScript<PageReply>(
    send,
    pageScript,
    LOG_KEYS,
    fresh,
  );
  const recent = createRecentEvents(end);
  const changes = createChanges();
  const left = new Set<string>();
  let epoch = begun;
  let oldest = begin;
  let highest = end;
  let highestStamp = received;

  function learn(...[current, newest, stamp]: Head) {
    // Connections answer in no common order: a late answer must not bring an old log back.
    if (left.has(current)) return;
    if (current === epoch && newest <= highest) return;
    highest = newest;
    highestStamp = stamp;
    if (current === epoch) return;
    left.add(epoch);
    epoch = current;
    oldest = 0;
    recent.restart(newest);
    changes.announce();
  }

  const known = () => [
    epoch,
    highest,
    crypto.randomUUID(),
    highestStamp,
    [...left].slice(-EPOCHS_LEFT).join(' '),
  ];

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
      const [current, newest, stamp, first, entries] = reply;
      learn(current, newest, stamp);
      if (current === epoch) oldest = Math.max(oldest, first);
      return { epoch: current, oldest: first, newest, events: entries.map(eventOf) };
    },
  };
}
