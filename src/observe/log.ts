import pino from 'pino';
import { describeError } from './describe-error.ts';
import { lineOutput } from './line-output.ts';
import { operationName, plainText, recordName, subjectsText } from './safe-text.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** All that a line may carry. A field that is not here is left out, whatever its type said. */
export interface LogFields {
  readonly route?: string | undefined;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
  readonly count?: number | undefined;
  readonly attempt?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly partner?: string | undefined;
  readonly store?: string | undefined;
  /** Shown as its class, its code and, if it is one of ours, its message. */
  readonly error?: unknown;
}

const FIELDS = [
  'route',
  'status',
  'code',
  'reason',
  'count',
  'attempt',
  'durationMs',
  'host',
  'port',
  'partner',
  'store',
] as const satisfies readonly (keyof LogFields)[];

export interface OperationLine {
  /** The gateway's own, for finding the lines of one operation. */
  readonly id: string;
  readonly name: string | undefined;
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly durationMs: number;
  /** Calls to the Partner API. */
  readonly calls: number;
  readonly cached: number;
  readonly outcome: string;
}

export interface AuditLine {
  /** The operation's, as in its own line. */
  readonly id?: string;
  /** One, or all who were shown the same thing in the same moment. */
  readonly subject: string | readonly string[];
  readonly operation: string | undefined;
  /** `Client:<uuid>` and the like: which, never what. */
  readonly records: readonly string[];
  readonly outcome: string;
}

export interface Log {
  readonly debug: (message: string, fields?: LogFields) => void;
  readonly info: (message: string, fields?: LogFields) => void;
  readonly warn: (message: string, fields?: LogFields) => void;
  readonly error: (message: string, fields?: LogFields) => void;
  readonly operation: (line: OperationLine) => void;
  /** Written at every level but `silent`: who saw which record is owed to the patient, not to debugging. */
  readonly audit: (line: AuditLine) => void;
}

/** JSON lines on stdout, or readable ones at a terminal. Messages are constants; values are fields. */
export function createLog(level: LogLevel, destination = lineOutput()): Log {
  const logger = pino(
    {
      level,
      base: null,
      customLevels: { audit: 70 },
      timestamp: createTimestamp(),
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );

  return {
    debug: (message, fields) => logger.debug(allowed(fields), message),
    info: (message, fields) => logger.info(allowed(fields), message),
    warn: (message, fields) => logger.warn(allowed(fields), message),
    error: (message, fields) => logger.error(allowed(fields), message),
    operation: (line) =>
      logger.info(
        {
          id: plainText(line.id),
          name: operationName(line.name),
          kind: line.kind,
          durationMs: Math.round(line.durationMs),
          calls: line.calls,
          cached: line.cached,
          outcome: plainText(line.outcome),
        },
        'operation',
      ),
    audit: (line) =>
      logger.audit(
        {
          subject: subjectsText(line.subject),
          operation: operationName(line.operation),
          records: line.records.map(recordName),
          outcome: plainText(line.outcome),
          ...(line.id !== undefined && { id: plainText(line.id) }),
        },
        'audit',
      ),
  };
}

/** Hundreds of lines share a millisecond, and need not each have it written out. */
function createTimestamp(): () => string {
  let [at, text] = [0, ''];
  return () => {
    const now = Date.now();
    if (now !== at) [at, text] = [now, `,"time":"${new Date(now).toISOString()}"`];
    return text;
  };
}

function allowed(fields: LogFields | undefined): Readonly<Record<string, unknown>> {
  if (!fields) return {};
  const safe: Record<string, unknown> = {};
  for (const name of FIELDS) {
    const value: unknown = fields[name];
    if (typeof value === 'number') safe[name] = value;
    if (typeof value === 'string') safe[name] = plainText(value);
  }
  return 'error' in fields ? { ...safe, ...describeError(fields.error) } : safe;
}
