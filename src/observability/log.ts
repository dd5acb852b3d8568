import pino from 'pino';
import type { AuditLine } from './audit.ts';

/** All that a line may carry. Other fields are left out, whatever the caller passed. */
const FIELDS = [
  'route',
  'status',
  'code',
  'reason',
  'count',
  'partner',
  'store',
  'origin',
] as const;
export type LogFields = { readonly [Name in (typeof FIELDS)[number]]?: string | number } & {
  readonly requestId?: string | undefined;
  readonly error?: unknown;
};
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface OperationLine {
  readonly id: string;
  readonly requestId?: string | undefined;
  readonly name: string | undefined;
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly durationMs: number;
  /** Calls to the Partner API. */
  readonly calls: number;
  readonly cached: number;
  readonly outcome: string;
}

export type Log = ReturnType<typeof createLog>;

/** JSON lines through pino. Messages are constants; values are fields. */
export function createLog(level: LogLevel, destination: pino.DestinationStream = process.stdout) {
  const customLevels = { audit: 70 }; // Above `error`: written at every level but `silent`.
  const formatters = { level: (label: string) => ({ level: label }) };
  const options = { level, customLevels, base: null, timestamp, formatters, serializers };
  const logger = pino(options, destination);
  return {
    debug: (message: string, fields?: LogFields) => logger.debug(allowed(fields), message),
    info: (message: string, fields?: LogFields) => logger.info(allowed(fields), message),
    warn: (message: string, fields?: LogFields) => logger.warn(allowed(fields), message),
    error: (message: string, fields?: LogFields) => logger.error(allowed(fields), message),
    operation(line: OperationLine): void {
      const { id, requestId, name = 'anonymous', kind, calls, cached, outcome } = line;
      const durationMs = Math.round(line.durationMs);
      logger.info({ id, requestId, name, kind, durationMs, calls, cached, outcome }, 'operation');
    },
    audit({ subject, operation = 'anonymous', records, outcome, id, requestId }: AuditLine): void {
      logger.audit({ subject, operation, records, outcome, id, requestId }, 'audit');
    },
  };
}

/** As pino's `isoTime`, which costs as much as half a line, but made once a millisecond. */
let [timeMs, time] = [0, ''];
function timestamp(): string {
  const now = Date.now();
  if (now !== timeMs) [timeMs, time] = [now, `,"time":"${new Date(now).toISOString()}"`];
  return time;
}

const WITHHELD = '[withheld]';
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** Codes, route templates and the like. No address, no id of a person, nothing longer than a sentence. */
export const plainText = (text: string): string =>
  /^[\w .,:;/{}()[\]<>=-]{0,160}$/.test(text) && !UUID.test(text) ? text : WITHHELD;
export const operationName = (name = 'anonymous'): string =>
  /^\w{1,64}$/.test(name) ? name : WITHHELD;
const subjectText = (subject: string): string =>
  subject.slice(0, 256).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');

const serializers = {
  requestId: (id: string) => (/^[\w.:-]{1,128}$/.test(id) ? id : WITHHELD),
  name: operationName,
  operation: operationName,
  outcome: plainText,
  /** Without the line breaks and terminal codes that JSON does not escape. */
  subject: (who: string | string[]) =>
    typeof who === 'string' ? subjectText(who) : who.map(subjectText),
};

function allowed(fields: LogFields = {}): object {
  const safe: Record<string, unknown> = { requestId: fields.requestId };
  for (const name of FIELDS) {
    const value: unknown = fields[name];
    if (typeof value === 'number') safe[name] = value;
    if (typeof value === 'string') safe[name] = plainText(value);
  }
  return 'error' in fields ? { ...safe, ...describeError(fields.error) } : safe;
}

/** An error by its class, its code and the line of ours that threw it. Its message may quote a patient's data. */
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
