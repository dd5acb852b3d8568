import pino from 'pino';

import type { AuditLine } from './audit.ts';

/** All that a line may carry. A field that is not here is left out, whatever its type said. */
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
    operation: ({ id, requestId, name, kind, durationMs, calls, cached, outcome }: OperationLine) =>
      logger.info(
        {
          id,
          requestId: requestIdText(requestId),
          name: operationName(name),
          kind,
          durationMs: Math.round(durationMs),
          calls,
          cached,
          outcome: plainText(outcome),
        },
        'operation',
      ),
    audit: ({ id, requestId, subject, operation, records, outcome }: AuditLine) =>
      logger.audit(
        {
          subject: typeof subject === 'string' ? subjectText(subject) : subject.map(subjectText),
          operation: operationName(operation),
          records,
          outcome: plainText(outcome),
          id,
          requestId: requestIdText(requestId),
        },
        'audit',
      ),
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

const WITHHELD = '[withheld]';
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
// Line breaks of every script and what terminals obey, so that a line can't be forged or hidden.
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Codes, templates and the like. No address, no id of a person, nothing longer than a sentence. */
export const plainText = (text: string): string =>
  /^[\w .,:;/{}()[\]<>=-]{0,160}$/.test(text) && !UUID.test(text) ? text : WITHHELD;

/** A frontend chooses its operations' names, so only a plain one is repeated. */
export function operationName(name: string | undefined): string {
  if (name === undefined) return 'anonymous';
  return /^\w{1,64}$/.test(name) ? name : WITHHELD;
}

const requestIdText = (id: string | undefined): string | undefined =>
  id === undefined || /^[\w.:-]{1,128}$/.test(id) ? id : WITHHELD;

/** Who asked, as the token's issuer spells it. */
const subjectText = (subject: string): string => subject.slice(0, 256).replace(CONTROLS, '?');

/** Errors of our own, whose messages are written to be logged. BAD_USER_INPUT may repeat what the caller sent. */
const OWN_CODES =
  /^(CONFIG|UNAUTHENTICATED|NOT_FOUND|QUERY_TOO_EXPENSIVE|OUTCOME_UNKNOWN|EVENTS_EXPIRED|TIMEOUT|STORE_UNAVAILABLE|UPSTREAM_(UNAVAILABLE|RATE_LIMITED|BAD_RESPONSE|CREDENTIALS|ROUTE))$/;
const OWN_FRAME = /^\s+at .*\b(src\/[\w/-]+\.ts:\d+)/m;

/** An error by its class and code. Any other message may quote a body or a URL, so it is left out. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { error: error === null ? 'null' : typeof error };
  const { name, message, stack = '' } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const isOwn = OWN_CODES.test(code);
  const isSafe = message.length <= 4_000 && !/@|:\/\//.test(message) && !UUID.test(message);
  // The stack begins with the message, which can look like a frame.
  const frames = stack.slice(Math.max(0, stack.indexOf(message)) + message.length);
  return {
    error: /^[A-Za-z]\w{0,63}$/.test(name) ? name : 'Error',
    code: /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : undefined,
    detail: isOwn ? (isSafe ? message.replace(CONTROLS, ' ') : WITHHELD) : undefined,
    at: isOwn ? undefined : OWN_FRAME.exec(frames)?.[1],
  };
}
