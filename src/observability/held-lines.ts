/** Past this many, whoever should read them has been away for long, and a person has to look. */
const MOST_RECORDS = 10_000;
/** Kept for changes that were let in while there was room: how they ended has to be written down too. */
const RESERVED_RECORDS = 500;
const MOST_BYTES = 100_000_000;

const AUDIT = '{"level":"audit"';
const OF_CHANGE = /"outcome":"\w+: /;
const NEW_LINE = 10;

export interface SortedLines {
  /** Audit lines that fit in, in their order. */
  readonly records: readonly string[];
  /** How many audit lines did not. */
  readonly lost: number;
  /** How many lines were none. */
  readonly dropped: number;
}

interface Spooled {
  readonly size: number;
  readonly bytes: number;
}

/** No further change may be begun. */
export const isFull = ({ size, bytes }: Spooled): boolean =>
  size >= MOST_RECORDS - RESERVED_RECORDS || bytes > MOST_BYTES;

/** Of what nobody takes, the part that must not be lost. */
export function sortLines(text: string, spool: Spooled): SortedLines {
  const records: string[] = [];
  let { size, bytes } = spool;
  let [lost, dropped] = [0, 0];
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = text.indexOf('\n', at) + 1 || text.length;
    const line = text.slice(at, end);
    if (!line.startsWith(AUDIT)) dropped += 1;
    else if (bytes > MOST_BYTES || size >= roomFor(line)) lost += 1;
    else {
      records.push(line);
      size += 1;
      bytes += line.length;
    }
  }
  return { records, lost, dropped };
}

const roomFor = (line: string): number =>
  OF_CHANGE.test(line) ? MOST_RECORDS : MOST_RECORDS - RESERVED_RECORDS;

/** What is not out yet, from the beginning of the line that is half out. */
export function restOf(chunk: Buffer, at: number): string {
  if (at === chunk.length) return '';
  const start = at === 0 ? 0 : chunk.lastIndexOf(NEW_LINE, at - 1) + 1;
  return chunk.toString('utf8', start);
}
