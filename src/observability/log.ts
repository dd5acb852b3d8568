import pino from 'pino';

import type { AuditLine } from './audit.ts';
import { describeError, operationName, plainText, requestIdText, subjectText } from './redact.ts';

/** All that a line may carry. A field that is not here is left out, whatever its type said. */
const FIELDS = [
  'route',
  'status',
  'code',
  'reason',
  'count',
  'origin',
  'partner',
  'store',
] as const;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export type LogFields = {
  readonly [Name in (typeof FIELDS)[number]]?: string | number | undefined;
} & {
  readonly requestId?: string | undefined;
  /** Shown as its class, its code and, if it is one of ours, its message. */
  readonly error?: unknown;
};

export interface OperationLine {
  /** The gateway's own, for finding the lines of one operation. */
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

/** JSON lines. Messages are constants; values are fields. */
export function createLog(level: LogLevel, destination: pino.DestinationStream = process.stdout) {
  const logger = pino(
    {
      level,
      base: null,
      // Above every level but `silent`: who saw which record is owed to the patient, not to debugging.
      customLevels: { audit: 70 },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  return {
    debug: (message: string, fields?: LogFields) => logger.debug(allowed(fields), message),
    info: (message: string, fields?: LogFields) => logger.info(allowed(fields), message),
    warn: (message: string, fields?: LogFields) => logger.warn(allowed(fields), message),
    error: (message: string, fields?: LogFields) => logger.error(allowed(fields), message),
    operation({ id, requestId, kind, calls, cached, ...line }: OperationLine): void {
      const [name, durationMs] = [operationName(line.name), Math.round(line.durationMs)];
      const outcome = plainText(line.outcome);
      const fields = { id, name, kind, durationMs, calls, cached, outcome };
      logger.info({ ...fields, requestId: requestIdText(requestId) }, 'operation');
    },
    audit({ id, requestId, records, ...line }: AuditLine): void {
      const [operation, outcome] = [operationName(line.operation), plainText(line.outcome)];
      const subject =
        typeof line.subject === 'string'
          ? subjectText(line.subject)
          : line.subject.map(subjectText);
      const fields = { subject, operation, records, outcome, id };
      logger.audit({ ...fields, requestId: requestIdText(requestId) }, 'audit');
    },
  };
}

function allowed(fields: LogFields = {}): object {
  const safe: Record<string, unknown> = { requestId: requestIdText(fields.requestId) };
  for (const name of FIELDS) {
    const value: unknown = fields[name];
    if (typeof value === 'number') safe[name] = value;
    if (typeof value === 'string') safe[name] = plainText(value);
  }
  return 'error' in fields ? { ...safe, ...describeError(fields.error) } : safe;
}
