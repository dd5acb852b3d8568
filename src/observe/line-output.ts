import pino, { type DestinationStream } from 'pino';
import { readableLines } from './readable-lines.ts';

const MOST_HELD_BYTES = 16_000;
const LONGEST_HELD_MS = 100;

/** Where lines go: stdout, as JSON, or readable if that is a terminal. */
export function lineOutput(): DestinationStream {
  if (process.stdout.isTTY) return readableLines((line) => process.stdout.write(line));
  // Not synchronous: a reader that stalls must not stall the event loop. A write costs more than the line, so lines go
  // out some at a time, within moments, and when the process exits.
  const lines = pino.destination({ dest: 1, sync: false, minLength: MOST_HELD_BYTES });
  setInterval(() => lines.flush(), LONGEST_HELD_MS).unref();
  return lines;
}
