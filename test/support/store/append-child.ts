import { writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { StoreUnavailable } from '../../../src/errors.ts';
import { openStore } from '../../../src/store/store.ts';
import { DAY_MS, eventOf } from './engines.ts';

/**
 * Appends without end from many writers and prints each key once its append is acknowledged, until it
 * is killed. Every append is sent a second time now and then, as a sender does that got no response.
 */
const [redisUrl, dir = '', prefix = ''] = process.argv.slice(2);
const WRITERS = 32;
const store = await openStore(redisUrl, dir, { retentionMs: DAY_MS });
let count = 0;

async function appendUntilAcknowledged(key: string): Promise<void> {
  try {
    await store.log.append([eventOf(key)]);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    await setTimeout(20);
    await appendUntilAcknowledged(key);
  }
}

/** Synchronous: what was printed stays printed, whatever happens next. A full pipe is waited for. */
function print(line: string): void {
  try {
    writeSync(1, line);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    print(line);
  }
}

async function write(): Promise<never> {
  for (;;) {
    const key = `${prefix}-${++count}`;
    const copies = count % 5 === 0 ? 2 : 1;
    await Promise.all(Array.from({ length: copies }, () => appendUntilAcknowledged(key)));
    print(`${key}\n`);
  }
}

await Promise.all(Array.from({ length: WRITERS }, write));
