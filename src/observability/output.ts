import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const MAX_LINES = 10_000;
const MAX_BYTES = 16 * 2 ** 20;
/** The rest is for the outcomes of changes that were accepted while there was room. */
const SHARE_OF_READS = 0.95;
const CHUNK_LINES = 200;
const FLUSH_MS = 50;
const MAX_STALL_MS = 1_000;

const isAudit = (line: string): boolean => line.startsWith('{"level":"audit"');
const isChange = (line: string): boolean => isAudit(line) && /"outcome":"\w+: /.test(line);

export type Output = ReturnType<typeof createOutput>;

export function openStdout(): Output {
  const { fd } = process.stdout; // Asking for it makes a pipe non-blocking.
  const output = createOutput((bytes) => fs.writeSync(fd, bytes));
  process.once('exit', () => output.update(true));
  return output;
}

/**
 * Lines for a reader that may stall or go away, without ever waiting for it. While it does not read, audit lines are kept in
 * a spool file and other lines are dropped. pino's own destination would drop audit lines too, or wait.
 */
export function createOutput(writeSome: (bytes: Buffer) => number) {
  let queue: string[] = [];
  /** Bytes of the queue, and of its first line those that are written already. */
  let [bytes, written] = [0, 0];
  let [isBlocked, progressAt] = [false, performance.now()];
  let [spooled, lost, dropped] = [0, 0, 0];
  let path: string | undefined;
  let [isSaved, hasFailed] = [true, false];

  const isFull = (share: number): boolean =>
    queue.length >= MAX_LINES * share || bytes >= MAX_BYTES * share;
  const hasStalled = (): boolean => performance.now() - progressAt > MAX_STALL_MS;

  function flush(): void {
    while (queue.length > 0) {
      try {
        const chunk = Buffer.from(queue.slice(0, CHUNK_LINES).join(''));
        written += writeSome(chunk.subarray(written));
      } catch {
        return; // The reader has stalled (EAGAIN) or is gone (EPIPE).
      }
      let count = 0;
      for (const line of queue) {
        const size = Buffer.byteLength(line);
        if (written < size) break;
        [count, written, bytes] = [count + 1, written - size, bytes - size];
      }
      queue.splice(0, count);
      progressAt = performance.now();
    }
    [progressAt, isBlocked] = [performance.now(), false];
  }

  function block(): void {
    // A line that is half written has to be completed.
    const kept = queue.filter((line, index) => isAudit(line) || (index === 0 && written > 0));
    dropped += queue.length - kept.length;
    [queue, bytes] = [kept, Buffer.byteLength(kept.join(''))];
    [isBlocked, isSaved] = [true, false];
  }

  /** Says whether it went well. No fsync: the file only has to outlive this process, and a slow disk must not stop it. */
  function isDone(action: (file: string) => void): boolean {
    try {
      if (path !== undefined) action(path);
      hasFailed = path === undefined;
    } catch {
      hasFailed = true;
    }
    return !hasFailed;
  }

  function rewrite(file: string): void {
    const lines = queue.filter(isAudit);
    fs.mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // It names patients' records: only this user may read it.
    fs.writeFileSync(`${file}.new`, lines.join(''), { mode: 0o600 });
    fs.renameSync(`${file}.new`, file);
    if (lines.length === 0) fs.rmSync(file);
    spooled = lines.length;
  }

  function append(file: string, line: string): void {
    fs.appendFileSync(file, line, { mode: 0o600 });
    spooled += 1;
  }

  function update(isLast = false): void {
    flush();
    if (queue.length > 0 && !isBlocked && (isLast || hasStalled())) block();
    isSaved &&= queue.length > 0 || spooled === 0;
    if (!isSaved) isSaved = isDone(rewrite);
  }
  const timer = setInterval(update, FLUSH_MS).unref();

  return {
    write(line: string): void {
      if (!isBlocked && isFull(SHARE_OF_READS)) flush();
      if (!isBlocked && isFull(SHARE_OF_READS)) block();
      const isUrgent = isChange(line);
      if (isBlocked && !isAudit(line)) dropped += 1;
      else if (isBlocked && isFull(isUrgent ? 1 : SHARE_OF_READS)) lost += 1;
      else {
        queue.push(line);
        bytes += Buffer.byteLength(line);
        if (isBlocked) isSaved &&= spooled < MAX_LINES && isDone((file) => append(file, line));
        else if (isUrgent || queue.length % CHUNK_LINES === 0) flush();
      }
    },
    /** Where audit lines are spooled. Those that an earlier process left there are written now. */
    openSpool(file: string): void {
      const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
      // Whole lines only: a crash may have left half of the last one.
      const lines = text.match(/^.*\n/gm)?.filter(isAudit) ?? [];
      queue.push(...lines);
      bytes += Buffer.byteLength(lines.join(''));
      [path, spooled] = [file, lines.length];
    },
    /** Why a change that is made now could go unrecorded. */
    problem(): string | undefined {
      if (!isBlocked || (!hasFailed && !isFull(SHARE_OF_READS))) return undefined;
      return 'nobody reads stdout, and there is no room for more audit lines in EVENT_STORE_DIR';
    },
    counts: () => ({ spooled, lost, dropped, queued: queue.length }),
    /** Waits for a reader that still reads. */
    async close(): Promise<void> {
      for (; queue.length > 0 && !hasStalled(); await delay(FLUSH_MS)) flush();
      clearInterval(timer);
      update(true);
    },
    update,
  };
}
