import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** The share that lines about reads may fill. The rest is for the outcomes of changes that were accepted before. */
const SHARE_OF_READS = 0.95;
const [MAX_LINES, CHUNK_LINES, FLUSH_MS, MAX_STALL_MS] = [10_000, 200, 50, 1_000];

/** Audit lines, and the line break before those of an earlier process, which may have written half a line. */
const isKept = (line: string): boolean => line === '\n' || line.startsWith('{"level":"audit"');

export type Output = ReturnType<typeof createOutput>;

export function openStdout(): Output {
  const { fd } = process.stdout; // Asking for it makes a pipe non-blocking.
  const output = createOutput((bytes) => fs.writeSync(fd, bytes));
  process.once('exit', () => output.update(true));
  return output;
}

/** Never waits for the reader. While it stalls, audit lines go to a file and other lines are dropped. */
export function createOutput(writeSome: (bytes: Buffer) => number) {
  let queue: string[] = [];
  /** How many bytes of the first line are already written. */
  let written = 0;
  let [isBlocked, isSaved, progressAt] = [false, true, performance.now()];
  let [spooled, lost, dropped] = [0, 0, 0];
  let path: string | undefined;
  const isFull = (share = SHARE_OF_READS): boolean => queue.length >= MAX_LINES * share;
  const hasStalled = (): boolean => performance.now() - progressAt > MAX_STALL_MS;

  function flush(): void {
    while (queue.length > 0) {
      const chunk = Buffer.from(queue.slice(0, CHUNK_LINES).join(''));
      try {
        written += writeSome(chunk.subarray(written));
      } catch {
        return; // The reader has stalled (EAGAIN) or is gone (EPIPE).
      }
      if (written === 0) return;
      progressAt = performance.now();
      // Whole lines are removed. The rest of a line that was cut short is written next.
      const whole = chunk.subarray(0, chunk.lastIndexOf('\n', written - 1) + 1);
      const isAll = whole.length === chunk.length;
      queue.splice(0, isAll ? CHUNK_LINES : whole.toString('latin1').split('\n').length - 1);
      written -= whole.length;
    }
    if (spooled > 0) save(queue, 'w');
    [isBlocked, isSaved, progressAt] = [false, true, performance.now()];
  }

  /** No fsync: the file has to outlive this process only, and a slow disk must not stop it. */
  function save(lines: readonly string[], flag: 'w' | 'a'): void {
    isSaved = false;
    if (path === undefined) return;
    const audits = lines.filter(isKept);
    try {
      fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      // On a full disk the old lines stay, since the file is not emptied before the new ones are written.
      const file = flag === 'w' && spooled > 0 ? `${path}.new` : path;
      // It names patients' records: only this user may read it.
      fs.writeFileSync(file, audits.join(''), { flag, mode: 0o600 });
      if (file !== path) fs.renameSync(file, path);
      spooled = audits.length + (flag === 'a' ? spooled : 0);
      isSaved = true;
    } catch {} // The next update tries again.
  }

  function update(isLast = false): void {
    flush();
    if (queue.length > 0 && !isBlocked && (isLast || hasStalled() || isFull())) {
      // A line that is half written has to be completed.
      const kept = queue.filter((line, index) => isKept(line) || (index === 0 && written > 0));
      dropped += queue.length - kept.length;
      [queue, isBlocked, isSaved] = [kept, true, false];
    }
    // Also after a failure, or when most of the file is written to stdout already.
    if (isBlocked && (!isSaved || spooled > 2 * MAX_LINES)) save(queue, 'w');
  }
  const updating = setInterval(update, FLUSH_MS).unref();

  return {
    write(line: string): void {
      const isAboutChange = isKept(line) && /"outcome":"(?!filter)\w+: /.test(line.slice(0, 1_000));
      if (!isBlocked && isFull()) update();
      if (isBlocked && !isKept(line)) return void (dropped += 1);
      if (isBlocked && isFull(isAboutChange ? 1 : SHARE_OF_READS)) return void (lost += 1);
      queue.push(line);
      if (isBlocked && isSaved) save([line], 'a');
      if (!isBlocked && (queue.length % CHUNK_LINES === 0 || isAboutChange)) flush();
      // The change is sent next, so its line has to outlive this process, even if the reader has stalled just now.
      if (!isBlocked && queue.length > 0 && isAboutChange)
        save(isSaved ? [line] : queue, isSaved ? 'a' : 'w');
    },
    /** Where audit lines are spooled. Those that an earlier process left there are written now. */
    openSpool(file: string): void {
      const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
      // Whole lines only: a crash may have left half of the last one.
      const lines = text.match(/^\{.*\n/gm)?.filter(isKept) ?? [];
      if (lines.length > 0) queue.push('\n', ...lines);
      [path, spooled] = [file, lines.length];
      // A line after half a line would be lost with it.
      if (lines.join('') !== text) save(queue, 'w');
      flush();
    },
    /** Why a change that is made now might not be audited. */
    problem(): string | undefined {
      if (isSaved ? !(isBlocked && isFull()) : queue.length === 0) return undefined;
      return 'stdout is blocked, and there is no space for more audit lines in EVENT_STORE_DIR';
    },
    counts: () => ({ spooled, lost, dropped, unwritten: queue.length }),
    /** Resolves when all lines are written, or the reader has stalled. */
    async close(): Promise<void> {
      for (flush(); queue.length > 0 && !hasStalled(); flush()) await delay(FLUSH_MS);
      clearInterval(updating);
    },
    update,
  };
}
