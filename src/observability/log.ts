import pino from 'pino';
import { describeError } from './describe-error.ts';
import { lineOutput } from './line-output.ts';
import { type AuditLine, type OperationLine, auditText, operationText } from './request-lines.ts';
import { plainText } from './safe-text.ts';

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

export interface Log {
  readonly debug: (message: string, fields?: LogFields) => void;
  readonly info: (message: string, fields?: LogFields) => void;
  readonly warn: (message: string, fields?: LogFields) => void;
  readonly error: (message: string, fields?: LogFields) => void;
  readonly operation: (line: OperationLine) => void;
  /** Written at every level but `silent`: who saw which record is owed to the patient, not to debugging. */
  readonly audit: (line: AuditLine) => void;
  /** For a line that is written many times over: spelt once, and with the time of day of each. */
  readonly repeated: {
    readonly operation: (line: OperationLine) => () => void;
    readonly audit: (line: AuditLine) => () => void;
  };
}

/** JSON lines on stdout, or readable ones at a terminal. Messages are constants; values are fields. */
export function createLog(level: LogLevel, destination = lineOutput()): Log {
  const timestamp = createTimestamp();
  const logger = pino(
    {
      level,
      base: null,
      timestamp,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  // Past pino: these two come with every request, and building their text is all that there is to do.
  const line = (head: string, rest: string) => destination.write(head + timestamp() + rest);
  const operations = logger.isLevelEnabled('info') ? line : nothing;
  const audits = level === 'silent' ? nothing : line;

  return {
    debug: (message, fields) => logger.debug(allowed(fields), message),
    info: (message, fields) => logger.info(allowed(fields), message),
    warn: (message, fields) => logger.warn(allowed(fields), message),
    error: (message, fields) => logger.error(allowed(fields), message),
    operation: (of) => operations(OPERATION, operationText(of)),
    audit: (of) => audits(AUDIT, auditText(of)),
    repeated: {
      operation: (of) => operations.bind(undefined, OPERATION, operationText(of)),
      audit: (of) => audits.bind(undefined, AUDIT, auditText(of)),
    },
  };
}

const OPERATION = '{"level":"info"';
const AUDIT = '{"level":"audit"';
const nothing = (): void => {};

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
