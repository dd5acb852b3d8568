const COLOURS: Readonly<Record<string, string>> = { warn: '\x1b[33m', error: '\x1b[31m' };
const [DIM, RESET] = ['\x1b[2m', '\x1b[0m'];

/** A line of JSON for a person at a terminal. */
export function readable(json: string): string {
  const { time, level, msg, ...fields }: Readonly<Record<string, unknown>> = JSON.parse(json);
  const name = String(level);
  const rest = Object.entries(fields).map(([key, value]) => `${key}=${shown(value)}`);
  return `${DIM}${String(time).slice(11, 19)}${RESET} ${COLOURS[name] ?? ''}${name.padEnd(5)}${RESET} ${shown(msg)} ${DIM}${rest.join(' ')}${RESET}\n`;
}

// Quoted unless plain: escape codes that JSON had escaped must not reach the terminal.
function shown(value: unknown): string {
  if (typeof value === 'string' && /^[\x20-\x7e]*$/.test(value)) return value;
  return JSON.stringify(value) ?? '';
}
