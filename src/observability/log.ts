import pino from 'pino';

/** The only fields of a line. Others that the caller passes are left out. */
const PLAIN = ['route', 'status', 'code', 'reason', 'count', 'partner', 'store', 'origin'] as const;
const OF_OPERATION = ['id', 'name', 'kind', 'durationMs', 'calls', 'cached', 'outcome'] as const;
type Field = 'requestId' | (typeof PLAIN)[number] | (typeof OF_OPERATION)[number];
const FIELDS: ReadonlySet<string> = new Set<Field>(['requestId', ...PLAIN, ...OF_OPERATION]);
type Value = string | number | undefined;
export type LogFields = Partial<Readonly<Record<Field, Value>>> & { readonly error?: unknown };

export type Log = ReturnType<typeof createLog>;

/** JSON lines through pino. Messages are constants; values are fields. */
export function createLog(level: string, destination: pino.DestinationStream = process.stdout) {
  const customLevels = { audit: 70 }; // Above `error`: written at every level but `silent`.
  const formatters = { level: (label: string) => ({ level: label }) };
  const options = { level, customLevels, base: null, timestamp, formatters, serializers };
  const logger = pino(options, destination);
  const at = (name: 'info' | 'warn' | 'error') => (message: string, fields?: LogFields) =>
    logger[name](allowed(fields), message);
  return {
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    audit: createAudit(logger),
    /** For lines that differ in nothing but the request's id: the rest is serialized once. */
    prepareInfo(message: string, fields: LogFields) {
      const prepared = logger.child(allowed(fields));
      return (requestId: string) => prepared.info({ requestId }, message);
    },
  };
}

let [stampedAt, stamp] = [0, ''];
/** ISO 8601, made once a millisecond: with pino's own, a cached answer takes a tenth more CPU. */
function timestamp(): string {
  const now = Date.now();
  if (now !== stampedAt) [stampedAt, stamp] = [now, `,"time":"${new Date(now).toISOString()}"`];
  return stamp;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** Codes, route templates and the like. No address, no id of a person, nothing longer than a sentence. */
export const plainText = (text: string): string =>
  /^[\w .,:;/{}()[\]<>=-]{0,160}$/.test(text) && !UUID.test(text) ? text : '[withheld]';
const plainValue = (value: unknown) =>
  typeof value === 'number' ? value : plainText(String(value));
/** Without the line breaks and terminal codes that JSON does not escape. */
const subjectText = (subject: string): string =>
  subject.slice(0, 256).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '?');

const serializers = {
  ...Object.fromEntries(PLAIN.map((name) => [name, plainValue])),
  outcome: plainText,
  durationMs: Math.round,
  subject: (who: string | string[]) =>
    typeof who === 'string' ? subjectText(who) : who.map(subjectText),
};

function allowed(fields: LogFields = {}): object {
  const line: Record<string, unknown> = {};
  for (const name in fields) if (FIELDS.has(name)) line[name] = fields[name as Field];
  return 'error' in fields ? { ...line, ...describeError(fields.error) } : line;
}

/** An error by its class, its code and the line of ours that threw it. Its message may contain patient data. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { error: error === null ? 'null' : typeof error };
  const { name, message, stack = '' } = error;
  const code = 'code' in error ? String(error.code) : '';
  // The stack begins with the message, which can look like a frame.
  const frames = stack.slice(Math.max(0, stack.indexOf(message)) + message.length);
  return {
    error: /^[A-Za-z]\w{0,63}$/.test(name) ? name : 'Error',
    code: /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : undefined,
    at: /^\s+at .*\b(src\/[\w/-]+\.ts:\d+)/m.exec(frames)?.[1],
  };
}

/** The most records, or subjects, in a line. Longer lines are hard to store and search, and the spool counts lines. */
const MAX_ITEMS = 100;

/** The records are `Client:<uuid>` and the like, made of a type and a checked id. */
type Trail = Readonly<{ operation: string; outcome: string; records: readonly string[] }>;

export type Audit = ReturnType<typeof createAudit>;

/** Records who read or changed which patient's record, and never its contents. */
function createAudit(logger: pino.Logger<'audit'>) {
  function write(trail: Trail, who: { readonly subject: string | readonly string[] }): void {
    for (const records of chunks(trail.records, MAX_ITEMS))
      logger.audit({ ...who, ...trail, records }, 'audit');
  }

  /** For one operation, or one event that is delivered. */
  function begin(subject: string, operation: string, id?: string, requestId?: string) {
    const who = { subject, id, requestId };
    const [read, denied] = [new Set<string>(), new Set<string>()];
    return {
      read,
      /** Records that were requested and not returned: they do not exist, or are not open to the viewer. */
      denied,
      /** Written at once: the operation may never end. */
      writeNow: (outcome: string, record: string) =>
        write({ operation, outcome, records: [record] }, who),
      finish(): void {
        write({ operation, outcome: 'read', records: [...read] }, who);
        write({ operation, outcome: 'denied', records: [...denied] }, who);
      },
      /** For a cached answer. With too many records for one line it lists none: the lines with the same `id` do. */
      prepareRepeated() {
        if (read.size === 0) return undefined;
        const records = read.size <= MAX_ITEMS ? [...read] : [];
        const line = logger.child({ subject, operation, id, records, outcome: 'read again' });
        return (nextId: string) => line.audit({ requestId: nextId }, 'audit');
      },
    };
  }

  /** What an event shows, or denies, and to whom: its receivers share a line. */
  function delivered(trail: Trail, subjects: readonly string[]): void {
    for (const subject of chunks([...new Set(subjects)], MAX_ITEMS)) write(trail, { subject });
  }

  return { begin, delivered };
}

function* chunks(all: readonly string[], size: number): Generator<readonly string[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
}
