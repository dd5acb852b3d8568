import { setTimeout } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import type { LogView } from './log-view.ts';
import { names } from './names.ts';

const BATCH = 500;
/** How long a lost log can go unnoticed: its new events have lower positions, and wake nobody. */
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
    if (page.events.length > 0 || wasDown) view.changes.announce();
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
      connection.drop();
      await running;
    },
  };
}
