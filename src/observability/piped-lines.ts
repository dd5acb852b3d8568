import { setTimeout as delay } from 'node:timers/promises';

import type { AuditSpool } from './audit-spool.ts';
import type { LineKeeping } from './line-keeping.ts';
import { isFull, restOf, sortLines } from './held-lines.ts';

/** Gives bytes to whoever reads, without waiting for them: how many were taken, which may be none. */
export type Give = (bytes: Buffer) => Promise<number>;

export interface PipedLines extends LineKeeping {
  write(line: string): void;
  /** Not even begun to be given: for the last moment of a process. */
  held(): string;
}

/** A write costs more than the line, so lines go out some at a time, and within moments. */
const CHUNK_CHARACTERS = 64_000;
const LONGEST_HELD_MS = 100;
/** A reader that is slower than this is one that does not read. */
const LONGEST_STALL_MS = 1_000;
/** Two seconds of a busy gateway: a reader that hiccups must cost no line. */
const MOST_HELD_CHARACTERS = 8_000_000;
const LONGEST_CLOSING_MS = 2_000;

const NOTHING: Buffer = Buffer.alloc(0);
const NO_SPOOL: AuditSpool = {
  size: 0,
  bytes: 0,
  append: () => Promise.reject(new Error('there is no spool')),
  oldest: () => Promise.resolve(NOTHING),
  forget: () => Promise.resolve(),
};

/**
 * Lines for a reader who may stall or go. Nothing here waits for that: meanwhile audit lines go to the spool, the others
 * are let go, and all that is kept comes out in order when somebody reads again.
 */
export function createPipedLines(give: Give): PipedLines {
  let spool = NO_SPOOL;
  let held = '';
  /** What is being given, and how far. */
  let chunk = NOTHING;
  let at = 0;
  /** The records of the chunk that stand at the head of the spool as well. */
  let spooled = NOTHING;
  let movedAt = performance.now();
  let isGiving = false;
  let keeping: Promise<void> | undefined;
  let [failed, broken, lost, dropped] = [false, false, 0, 0];

  const isBehind = (): boolean =>
    held.length > MOST_HELD_CHARACTERS ||
    (at < chunk.length && performance.now() - movedAt > LONGEST_STALL_MS);

  const isDone = (): boolean => !keeping && held === '' && at === chunk.length && spool.size === 0;

  function begin(next: Buffer, inSpool: Buffer): void {
    [chunk, at, spooled, movedAt] = [next, 0, inSpool, performance.now()];
  }

  /** The next to give, the oldest first. False: there is nothing that could not wait. */
  async function refill(least: number): Promise<boolean> {
    await kept();
    if (spooled.length > 0) await spool.forget(spooled).catch(() => undefined);
    begin(NOTHING, NOTHING);
    await kept();
    if (spool.size > 0) {
      const oldest = await spool.oldest();
      begin(oldest, oldest);
    } else if (held.length >= least) {
      begin(Buffer.from(held), NOTHING);
      held = '';
    }
    return chunk.length > 0;
  }

  async function giveAll(least: number): Promise<void> {
    isGiving = true;
    try {
      while (at < chunk.length || (await refill(least))) {
        const taken = await give(at === 0 ? chunk : chunk.subarray(at));
        at += taken;
        if (taken === 0) await delay(LONGEST_HELD_MS, undefined, { ref: false });
        else [movedAt, failed] = [performance.now(), false];
        least = CHUNK_CHARACTERS;
      }
    } catch {
      // The spool can't be read: what is in it has to wait for the next process, and is not to hold up the rest.
      [spool, broken] = [NO_SPOOL, true];
    }
    isGiving = false;
  }

  function keep(): Promise<void> {
    keeping ??= keepHeld().finally(() => (keeping = undefined));
    return keeping;
  }

  const kept = async (): Promise<void> => {
    while (keeping) await keeping;
  };

  async function keepHeld(): Promise<void> {
    // A line that is half out is kept as well: if the process ended now, nobody would ever have the rest.
    const begun = spooled.length === 0 ? restOf(chunk, at) : '';
    const half = sortLines(begun, spool).records;
    const sorted = sortLines(held, { size: spool.size + half.length, bytes: spool.bytes });
    [held, lost, dropped] = ['', lost + sorted.lost, dropped + sorted.dropped];
    if (half.length + sorted.records.length === 0) return;
    try {
      await spool.append([...half, ...sorted.records]);
      spooled = spooled.length === 0 ? Buffer.from(half.join('')) : spooled;
      failed = false;
    } catch {
      held = sorted.records.join('') + held;
      failed = true;
    }
  }

  setInterval(() => {
    if (!isGiving && (held !== '' || spool.size > 0)) void giveAll(1);
    if (isBehind()) void keep();
  }, LONGEST_HELD_MS).unref();

  function problem(): string | undefined {
    if (broken) return 'the audit lines that were kept in EVENT_STORE_DIR can’t be read';
    if (failed) return 'audit lines are taken neither by stdout nor by EVENT_STORE_DIR';
    if (!isFull(spool)) return undefined;
    return 'nobody reads stdout, and there is no room for more audit lines in EVENT_STORE_DIR';
  }

  async function close(): Promise<void> {
    const until = performance.now() + LONGEST_CLOSING_MS;
    while (!isDone() && !isBehind() && performance.now() < until) {
      if (!isGiving) void giveAll(1);
      await delay(1);
    }
    await kept();
    if (!isDone()) await keep();
  }

  return {
    write(line) {
      held += line;
      if (held.length >= CHUNK_CHARACTERS && !isGiving) void giveAll(CHUNK_CHARACTERS);
    },
    keepIn: (opened) => (spool = opened),
    problem,
    counts: () => ({ spooled: spool.size, lost, dropped }),
    held: () => held,
    close,
  };
}
