import type { DestinationStream } from 'pino';

const COLOURS: Readonly<Record<string, string>> = { warn: '\x1b[33m', error: '\x1b[31m' };
const DIM = '\x1b[2m';
const RESET = '\x1b[0m';

/** For a person at a terminal: the same lines, without the JSON. */
export function readableLines(write: (line: string) => void): DestinationStream {
  return { write: (json) => write(readable(json)) };
}

function readable(json: string): string {
  const line: Readonly<Record<string, unknown>> = JSON.parse(json);
  const { time, level, msg, ...fields } = line;
  const clock = typeof time === 'string' ? time.slice(11, 19) : '';
  const name = typeof level === 'string' ? level : '';
  const rest = Object.entries(fields).map(([key, value]) => `${key}=${shown(value)}`);
  const colour = COLOURS[name] ?? '';
  return `${DIM}${clock}${RESET} ${colour}${name.padEnd(5)}${RESET} ${shown(msg)} ${DIM}${rest.join(' ')}${RESET}\n`;
}

// Quoted unless plain: what JSON had escaped must not come back to life on the terminal.
function shown(value: unknown): string {
  if (typeof value === 'string' && /^[\x20-\x7e]*$/.test(value)) return value;
  return JSON.stringify(value) ?? '';
}
