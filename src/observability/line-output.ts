import { write, writeSync } from 'node:fs';

import type { DestinationStream } from 'pino';

import { type Give, type PipedLines, createPipedLines } from './piped-lines.ts';
import { readableLines } from './readable-lines.ts';

const STANDARD_OUTPUT = 1;

/** Where lines go: stdout, as JSON, or readable if that is a terminal. */
export function openLineOutput(): PipedLines {
  // Asking has an effect as well: Node then makes a pipe one that does not block.
  const isTerminal = process.stdout.isTTY;
  const lines = createPipedLines(toStandardOutput);
  if (isTerminal) return { ...lines, ...readableLines((line) => void process.stdout.write(line)) };
  process.on('exit', () => {
    try {
      writeSync(STANDARD_OUTPUT, lines.held());
    } catch {
      // Nobody reads: there is nothing left to do.
    }
  });
  return lines;
}

export const lineOutput: () => DestinationStream = openLineOutput;

/** A reader who has stalled (EAGAIN) and one who has gone (EPIPE) are the same: another may come. */
const toStandardOutput: Give = (bytes) =>
  new Promise((resolve) => {
    write(STANDARD_OUTPUT, bytes, (error, taken) => resolve(error ? 0 : taken));
  });
