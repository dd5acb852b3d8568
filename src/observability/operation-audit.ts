import type { AuditLine, Bundle } from './request-lines.ts';
import { bundleOf } from './request-lines.ts';

/** Writes down who saw or changed these records, in as many lines as it takes. */
export type AuditLines = (
  subject: AuditLine['subject'],
  operation: string | undefined,
  records: readonly Bundle[],
  outcome: string,
  id?: string,
) => void;

export interface OperationAudit {
  /** Shown to the viewer. */
  saw(record: string): void;
  /** The same for many that are often shown together. */
  sawAll(records: Bundle): void;
  /** Asked for and not shown: not there, or not the viewer's. */
  missed(record: string): void;
  /** Written down at once, since it can't wait for the operation to end well. */
  did(outcome: string, record: string): void;
  /** Both may be set aside for a while, by whoever wants to know what a part of the operation has shown. */
  seen: Set<string>;
  missing: Set<string>;
  hasSeen(): boolean;
  /** Writes down what was seen and what was missed. */
  finish(): void;
}

/** A record, and functions over it: there is one for each operation. */
interface Trail extends OperationAudit {
  readonly bundles: Bundle[];
  readonly lines: AuditLines;
  readonly subject: string;
  readonly operation: string | undefined;
  readonly id: string | undefined;
}

export function createOperationAudit(
  lines: AuditLines,
  subject: string,
  operation: string | undefined,
  id: string | undefined,
): OperationAudit {
  const trail: Trail = {
    seen: new Set(),
    missing: new Set(),
    bundles: [],
    lines,
    subject,
    operation,
    id,
    saw,
    sawAll,
    missed,
    did,
    hasSeen,
    finish,
  };
  return trail;
}

function saw(this: Trail, record: string): void {
  this.seen.add(record);
}

function sawAll(this: Trail, records: Bundle): void {
  this.bundles.push(records);
}

function missed(this: Trail, record: string): void {
  this.missing.add(record);
}

function did(this: Trail, outcome: string, record: string): void {
  this.lines(this.subject, this.operation, [bundleOf([record])], outcome);
}

function hasSeen(this: Trail): boolean {
  return this.seen.size > 0 || this.bundles.some(({ names }) => names.length > 0);
}

function finish(this: Trail): void {
  const seen = [bundleOf([...this.seen]), ...this.bundles];
  this.lines(this.subject, this.operation, seen, 'read', this.id);
  if (this.missing.size === 0) return;
  const missing = [bundleOf([...this.missing])];
  this.lines(this.subject, this.operation, missing, 'denied', this.id);
}
