import pino from 'pino';
import type { AuditLine } from './audit.ts';

/** The only fields of a line. Others that the caller passes are left out. */
const PLAIN = ['route', 'status', 'code', 'reason', 'count', 'partner', 'store', 'origin'] as const;
export type LogFields = {
  readonly [Name in (typeof PLAIN)[number]]?: string | number | undefined;
} & {
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
  readonly usage: Readonly<Record<'calls' | 'cached' | 'coalesced' | 'retried', number>>;
  /** Codes of its errors. Empty if it succeeded. */
  readonly codes: readonly string[];
}

export type Log = ReturnType<typeof createLog>;

/** JSON lines through pino. Messages are constants; values are fields. */
export function createLog(level: LogLevel, destination: pino.DestinationStream = process.stdout) {
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
    operation: (line: OperationLine) => logger.info(operationFields(line), 'operation'),
    audit: (line: AuditLine) => logger.audit(auditFields(line), 'audit'),
    /** For lines that differ in nothing but the request's id: the rest is serialized once. */
    prepareOperation(line: OperationLine) {
      const child = logger.child(operationFields(line));
      return (requestId: string) => child.info({ requestId }, 'operation');
    },
    prepareAudit(line: AuditLine) {
      const child = logger.child(auditFields(line));
      return (requestId: string) => child.audit({ requestId }, 'audit');
    },
  };
}

const auditFields = ({ operation = 'anonymous', ...line }: AuditLine) => ({ ...line, operation });

function operationFields({
  name = 'anonymous',
  usage: { calls, cached },
  codes: [outcome = 'ok'],
  ...line
}: OperationLine) {
  return { ...line, name, durationMs: Math.round(line.durationMs), calls, cached, outcome };
}

let [stampedAt, stamp] = [0, ''];
/** ISO 8601. Lines of the same millisecond share the text: making it takes a good part of the time of a line. */
function timestamp(): string {
  const now = Date.now();
  if (now !== stampedAt) [stampedAt, stamp] = [now, `,"time":"${new Date(now).toISOString()}"`];
  return stamp;
}

const WITHHELD = '[withheld]';
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** Codes, route templates and the like. No address, no id of a person, nothing longer than a sentence. */
export const plainText = (text: string): string =>
  /^[\w .,:;/{}()[\]<>=-]{0,160}$/.test(text) && !UUID.test(text) ? text : WITHHELD;
export const operationName = (name = 'anonymous'): string =>
  /^\w{1,64}$/.test(name) ? name : WITHHELD;
const plainValue = (value: unknown) =>
  typeof value === 'number' ? value : plainText(String(value));
/** Without the line breaks and terminal codes that JSON does not escape. */
const subjectText = (subject: string): string =>
  subject.slice(0, 256).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');

const serializers = {
  ...Object.fromEntries(PLAIN.map((name) => [name, plainValue])),
  name: operationName,
  operation: operationName,
  outcome: plainText,
  subject: (who: string | string[]) =>
    typeof who === 'string' ? subjectText(who) : who.map(subjectText),
};

const allowed = (fields: LogFields = {}): object => ({
  requestId: fields.requestId,
  ...Object.fromEntries(PLAIN.map((name) => [name, fields[name]])),
  ...('error' in fields && describeError(fields.error)),
});

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
