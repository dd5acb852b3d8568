import { constants, readFileSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The file begins with where its first record stands that nobody has taken, in as many digits as it may ever need. */
const HEAD_BYTES = 16;
const READ_BYTES = 16_000;
const NEW_LINE = 10;

/** Records that wait on disk, in their order, for somebody to take them. They outlive the process. */
export interface AuditSpool {
  readonly size: number;
  readonly bytes: number;
  /** Resolves once they are durable; rejects if the disk does not take them, and then none is there. */
  append(records: readonly string[]): Promise<void>;
  /** Some of the oldest. Whole ones, a line each. */
  oldest(): Promise<Buffer>;
  /** These were taken. A crash right before it repeats them; none is ever lost. */
  forget(oldest: Buffer): Promise<void>;
}

/** Nothing is made on disk before there is something to keep. One process a file, at a time. */
export function openAuditSpool(path: string): AuditSpool {
  let { start, end, size } = leftIn(path);
  let file: FileHandle | undefined;
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other: what is read, appended and cut off is one file. */
  function inTurn<T>(act: (file: FileHandle) => Promise<T>): Promise<T> {
    const turn = last.then(async () => act((file ??= await openFile(path))));
    last = turn.catch(() => undefined);
    return turn;
  }

  async function append(opened: FileHandle, records: readonly string[]): Promise<void> {
    const bytes = Buffer.from(records.join(''));
    try {
      if (end === HEAD_BYTES) await writeAll(opened, headOf(start), 0);
      await writeAll(opened, bytes, end);
      await opened.datasync();
    } catch (error) {
      await opened.truncate(end).catch(() => undefined);
      throw error;
    }
    end += bytes.length;
    size += records.length;
  }

  async function oldest(opened: FileHandle): Promise<Buffer> {
    for (let length = READ_BYTES; ; length *= 2) {
      const bytes = Buffer.alloc(Math.min(length, end - start));
      const { bytesRead } = await opened.read(bytes, 0, bytes.length, start);
      const whole = bytes.lastIndexOf(NEW_LINE, bytesRead - 1) + 1;
      if (whole > 0) return bytes.subarray(0, whole);
      if (bytesRead < length) throw new Error('the spool does not hold what was put into it');
    }
  }

  async function forget(opened: FileHandle, taken: Buffer): Promise<void> {
    start += taken.length;
    size -= recordsIn(taken);
    if (start < end) return writeAll(opened, headOf(start), 0);
    start = end = HEAD_BYTES;
    await opened.truncate(0);
  }

  return {
    get size() {
      return size;
    },
    get bytes() {
      return end - start;
    },
    append: (records) => inTurn((opened) => append(opened, records)),
    oldest: () => inTurn(oldest),
    forget: (taken) => inTurn((opened) => forget(opened, taken)),
  };
}

/** Only whole records count: of the last one a crash may have left a part. */
function leftIn(path: string): { start: number; end: number; size: number } {
  const bytes = contentOf(path);
  const end = Math.max(HEAD_BYTES, bytes.lastIndexOf(NEW_LINE) + 1);
  const head = Number(bytes.toString('latin1', 0, HEAD_BYTES));
  const start = head >= HEAD_BYTES && head <= end ? head : HEAD_BYTES;
  return { start, end, size: recordsIn(bytes.subarray(start, end)) };
}

function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

/** It names patients' records: for this user's eyes only. */
async function openFile(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
}

async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
  }
}

const headOf = (start: number): Buffer => Buffer.from(String(start).padStart(HEAD_BYTES, '0'));

function recordsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEW_LINE); at !== -1; at = bytes.indexOf(NEW_LINE, at + 1))
    count += 1;
  return count;
}
