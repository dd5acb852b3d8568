import { setTimeout } from 'node:timers/promises';
import type { StoredEvent } from '../event-log.ts';
import { type LogPage, RecentEvents } from '../follow.ts';
import type { Connection } from './connection.ts';
import { type Send, names, pageScript, runScript } from './scripts.ts';

export type Entry = readonly [position: number, receivedAt: string, body: string];
/** `stamp`: when the newest was received, empty if it is not there any more. */
export type Head = readonly [epoch: string, newest: number, stamp: string];
type PageReply = readonly [...Head, oldest: number, entries: readonly Entry[]];

/** More failovers than anybody has while an instance lives. */
const MOST_FORMER_EPOCHS = 20;

export const LOG_KEYS = [names.epoch, names.newest, names.events];

export const eventOf = ([position, receivedAt, body]: Entry): StoredEvent => ({
  position,
  receivedAt: Number(receivedAt),
  body,
});

export type LogView = Awaited<ReturnType<typeof openLogView>>;

/** What this instance knows of the shared log. */
export async function openLogView(send: Send) {
  const fresh = ['', 0, crypto.randomUUID(), '', '', 0, 0];
  const reply = await runScript<PageReply>(send, pageScript, LOG_KEYS, fresh);
  let [epoch, highest, highestStamp, oldest] = reply;
  const recent = new RecentEvents(highest);
  const formerEpochs = new Set<string>();

  function learn(...[current, newest, stamp]: Head) {
    // Connections answer in no common order: a late answer must not bring an old log back.
    if (formerEpochs.has(current)) return;
    if (current === epoch && newest <= highest) return;
    highest = newest;
    highestStamp = stamp;
    if (current === epoch) return;
    formerEpochs.add(epoch);
    epoch = current;
    oldest = 0;
    recent.restart(newest);
    recent.announce();
  }

  /** The first arguments of the log's scripts: by them a lost log is distinguished from ours. */
  const known = () => [
    epoch,
    highest,
    crypto.randomUUID(),
    highestStamp,
    [...formerEpochs].slice(-MOST_FORMER_EPOCHS).join(' '),
  ];

  return {
    get epoch() {
      return epoch;
    },
    get oldest() {
      return oldest;
    },
    recent,
    known,
    learn,
    async page(by: Send, after: number, limit: number): Promise<LogPage> {
      const args = [...known(), after, limit];
      const [current, newest, stamp, first, entries] = await runScript<PageReply>(
        by,
        pageScript,
        LOG_KEYS,
        args,
      );
      learn(current, newest, stamp);
      if (current === epoch) oldest = Math.max(oldest, first);
      return { epoch: current, oldest: first, newest, events: entries.map(eventOf) };
    },
  };
}

const BATCH = 500;
/** How long a lost log can go unnoticed: XREAD does not return for its new events, whose positions are lower. */
const LOOK_AGAIN_MS = 1_000;
const RETRY_MS = 200;
const GRACE_MS = 3_000;

/** Brings what any instance appends into this one's memory. XREAD only wakes it; the page is what counts. */
export function createTail(connection: Connection, view: LogView): AsyncDisposable {
  const closing = new AbortController();

  async function catchUp(wasDown: boolean) {
    const page = await view.page(connection.command, view.recent.newest, BATCH);
    if (page.epoch !== view.epoch) return;
    for (const event of page.events) view.recent.push(event);
    if (page.events.length > 0 || wasDown) view.recent.announce();
    if (page.events.length === BATCH) return;
    const after = `${view.recent.newest}-0`;
    const wait = ['XREAD', 'COUNT', '1', 'BLOCK', String(LOOK_AGAIN_MS), 'STREAMS'];
    await connection.command([...wait, names.events, after], LOOK_AGAIN_MS + GRACE_MS);
  }

  async function run() {
    let wasDown = false;
    while (!closing.signal.aborted) {
      try {
        await catchUp(wasDown);
        wasDown = false;
      } catch {
        wasDown = true;
        await setTimeout(RETRY_MS, undefined, { signal: closing.signal }).catch(() => {});
      }
    }
  }

  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      closing.abort();
      connection.destroy();
      await running;
    },
  };
}
