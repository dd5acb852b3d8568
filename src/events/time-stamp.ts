/** `timeStamp` is ISO 8601, but not every sender writes a `T`, a zone or its colon. No zone means UTC. */
const ISO =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,12})?)?))?(Z|[+-]\d{2}:?\d{2})?$/i;

/** As `toISOString` writes it, on a day that every month has: then it is what it would be normalised to. */
const NORMAL = /^\d{4}-\d\d-(?:[01]\d|2[0-8])T(?:[01]\d|2[0-3]):\d\d:\d\d\.\d{3}Z$/;

/** Older than the service, so a clock that was never set. */
const EARLIEST_MS = Date.UTC(2000, 0, 1);
/** Two clocks that are kept differ by less than this. */
const LEAD_MS = 5 * 60_000;

export interface TimeStamp {
  /** The sender's time, normalised, if it is credible; else the time of receipt. */
  readonly occurredAt: string;
  readonly credible: boolean;
}

export function readTimeStamp(value: unknown, receivedAt: number): TimeStamp {
  const text = typeof value === 'string' ? value : '';
  const isNormal = NORMAL.test(text);
  const sentMs = isNormal ? Date.parse(text) : millisecondsOf(text);
  // Not a number compares false with anything.
  const credible = sentMs >= EARLIEST_MS && sentMs <= receivedAt + LEAD_MS;
  if (!credible) return { occurredAt: isoOf(receivedAt), credible };
  return { occurredAt: isNormal ? text : isoOf(sentMs), credible };
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

function millisecondsOf(text: string): number {
  const parts = ISO.exec(text.trim());
  if (parts === null) return Number.NaN;
  const [, date = '', time = '00:00', zone = 'Z'] = parts;
  if (!isInCalendar(date)) return Number.NaN;
  const offset = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase();
  return Date.parse(`${date}T${time}${offset}`);
}

/** To `Date.parse`, the 30th of February is the 2nd of March. */
const isInCalendar = (date: string): boolean =>
  new Date(`${date}T00:00Z`).getUTCDate() === Number(date.slice(-2));
