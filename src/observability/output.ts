import { readFileSync, write } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const MAX_AUDIT_LINES = 10_000;
/** For changes that were accepted while there was room: their outcome must be recorded too. */
const RESERVED_FOR_CHANGES = 500;
const MAX_QUEUED_LINES = 20_000;
/** A write costs more than a line. */
const CHUNK_LINES = 200;
const MAX_STALL_MS = 1_000;
const FLUSH_MS = 100;
const CLOSE_MS = 2_000;
const NEW_LINE = 10;

const isAudit = (line: string): boolean => line.startsWith('{"level":"audit"');
const roomFor = (line: string): number =>
  MAX_AUDIT_LINES - (/"outcome":"\w+: /.test(line) ? 0 : RESERVED_FOR_CHANGES);

export type Output = ReturnType<typeof createOutput>;

/** A reader that has stalled (EAGAIN) and one that is gone (EPIPE) are the same here: nothing was written. */
export function openStdout(): Output {
  const { fd } = process.stdout; // Asking for it makes a pipe non-blocking.
  return createOutput(
    (bytes) =>
      new Promise((resolve) => write(fd, bytes, (error, count) => resolve(error ? 0 : count))),
  );
}

/**
 * Lines for a reader that may stall or go away, without ever waiting for it. While it does not read, audit lines are
 * spooled to a file and other lines are dropped; when it reads again, they are written in order. pino's own destination
 * gives nothing back that it holds, and waits for the reader at exit.
 */
export function createOutput(writeSome: (bytes: Buffer) => Promise<number>) {
  const queue: string[] = [];
  /** Bytes of the first line that are written already; how many lines are being written; how many have been. */
  let [offset, inFlight, removed] = [0, 0, 0];
  let [progressAt, isBlocked, lost, dropped] = [0, false, 0, 0];
  let path: string | undefined;
  /** In lines, counted from the first ever queued. */
  let [savedUpTo, hasFile, hasFailed] = [0, false, false];
  let saving: Promise<void> | undefined;

  async function flush(): Promise<void> {
    if (inFlight > 0) return;
    progressAt = performance.now();
    while (queue.length > 0) {
      inFlight = Math.min(queue.length, CHUNK_LINES);
      const chunk = Buffer.from(queue.slice(0, inFlight).join('')).subarray(offset);
      const count = await writeSome(chunk);
      if (count > 0) progressAt = performance.now();
      else await delay(FLUSH_MS, undefined, { ref: false });
      const end = count === 0 ? 0 : chunk.lastIndexOf(NEW_LINE, count - 1) + 1;
      offset = end > 0 ? count - end : offset + count;
      const lines = chunk.toString('latin1', 0, end).split('\n').length - 1;
      queue.splice(0, lines);
      [removed, inFlight] = [removed + lines, 0];
    }
    isBlocked = false;
  }

  const isBehind = (): boolean =>
    queue.length >= MAX_QUEUED_LINES ||
    (inFlight > 0 && performance.now() - progressAt > MAX_STALL_MS);

  function block(): void {
    if (isBlocked) return;
    [isBlocked, savedUpTo] = [true, 0];
    const waiting = queue.splice(inFlight);
    queue.push(...waiting.filter(isAudit));
    dropped += inFlight + waiting.length - queue.length;
  }

  /** Written whole each time: at most 10,000 lines, and only while nobody reads. */
  async function updateFile(file: string): Promise<void> {
    const upTo = removed + queue.length;
    if (isBlocked && upTo > savedUpTo) {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      // It names patients' records: for this user's eyes only.
      const options = { mode: 0o600, flush: true };
      await writeFile(`${file}.new`, queue.filter(isAudit).join(''), options);
      await rename(`${file}.new`, file);
      [savedUpTo, hasFile] = [upTo, true];
    } else if (hasFile && savedUpTo <= removed) {
      await rm(file, { force: true });
      hasFile = false;
    }
    hasFailed = false;
  }

  function save(): Promise<void> {
    if (path === undefined) return Promise.resolve();
    saving ??= updateFile(path)
      .catch(() => void (hasFailed = true))
      .finally(() => void (saving = undefined));
    return saving;
  }

  const timer = setInterval(() => {
    void flush();
    if (isBehind()) block();
    void save();
  }, FLUSH_MS).unref();

  return {
    write(line: string): void {
      if (queue.length >= MAX_QUEUED_LINES) block();
      if (isBlocked && !isAudit(line)) dropped += 1;
      else if (isBlocked && queue.length >= roomFor(line)) lost += 1;
      else queue.push(line);
      if (queue.length >= CHUNK_LINES && !isBlocked) void flush();
    },
    /** Where audit lines are spooled. Those that an earlier process left there are written first. */
    openSpool(file: string): void {
      queue.push(...readLines(file));
      [path, savedUpTo, hasFile] = [file, removed + queue.length, true];
    },
    /** Why a change that is made now could go unrecorded. */
    problem(): string | undefined {
      if (!isBlocked) return undefined;
      if (path === undefined || hasFailed)
        return 'audit lines can be written neither to stdout nor to EVENT_STORE_DIR';
      if (queue.length < MAX_AUDIT_LINES - RESERVED_FOR_CHANGES) return undefined;
      return 'nobody reads stdout, and there is no room for more audit lines in EVENT_STORE_DIR';
    },
    counts: () => ({
      spooled: Math.max(0, savedUpTo - removed),
      lost,
      dropped,
      queued: queue.length,
    }),
    /** Resolves once everything is written, or the audit lines are in the spool. */
    async close(): Promise<void> {
      const until = performance.now() + CLOSE_MS;
      for (; queue.length > 0 && !isBehind() && performance.now() < until; await delay(5))
        void flush();
      clearInterval(timer);
      if (queue.length > 0) block();
      // Twice, since a save that is running began before the last lines came.
      await save();
      await save();
    },
  };
}

/** Whole lines only: a crash may have left half of the last one. */
function readLines(file: string): readonly string[] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    return lines.filter(isAudit).map((line) => `${line}\n`);
  } catch {
    return [];
  }
}
