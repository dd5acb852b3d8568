import { operationName, plainText, recordName, subjectsText } from './safe-text.ts';

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
  readonly records: readonly Bundle[];
  readonly outcome: string;
}

/** Names of records, `Client:<uuid>` and the like: which, never what. Spelt once, however often they are told of. */
export interface Bundle {
  readonly names: readonly string[];
  text: string | undefined;
}

export const bundleOf = (names: readonly string[]): Bundle => ({ names, text: undefined });

/** What follows a line's level and time. Texts made plain need no escaping; who asked does. */
export function operationText(line: OperationLine): string {
  const { kind, durationMs, calls, cached } = line;
  return `,"id":"${plainText(line.id)}","name":"${operationName(line.name)}","kind":"${kind}","durationMs":${Math.round(durationMs)},"calls":${calls},"cached":${cached},"outcome":"${plainText(line.outcome)}","msg":"operation"}\n`;
}

export function auditText(line: AuditLine): string {
  const subject = JSON.stringify(subjectsText(line.subject));
  const records = line.records.map(bundleText).join(',');
  const id = line.id === undefined ? '' : `,"id":"${plainText(line.id)}"`;
  return `,"subject":${subject},"operation":"${operationName(line.operation)}","records":[${records}],"outcome":"${plainText(line.outcome)}"${id},"msg":"audit"}\n`;
}

function bundleText(bundle: Bundle): string {
  bundle.text ??= `"${bundle.names.map(recordName).join('","')}"`;
  return bundle.text;
}
