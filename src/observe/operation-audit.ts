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

export function createOperationAudit(
  lines: AuditLines,
  subject: string,
  operation: string | undefined,
  id: string | undefined,
): OperationAudit {
  return new Trail(lines, subject, operation, id);
}

/** A class, since there is one for each operation. */
class Trail implements OperationAudit {
  seen = new Set<string>();
  missing = new Set<string>();
  readonly #bundles: Bundle[] = [];
  readonly #lines: AuditLines;
  readonly #subject: string;
  readonly #operation: string | undefined;
  readonly #id: string | undefined;

  constructor(
    lines: AuditLines,
    subject: string,
    operation: string | undefined,
    id: string | undefined,
  ) {
    this.#lines = lines;
    this.#subject = subject;
    this.#operation = operation;
    this.#id = id;
  }

  saw(record: string): void {
    this.seen.add(record);
  }

  sawAll(records: Bundle): void {
    this.#bundles.push(records);
  }

  missed(record: string): void {
    this.missing.add(record);
  }

  did(outcome: string, record: string): void {
    this.#lines(this.#subject, this.#operation, [bundleOf([record])], outcome);
  }

  hasSeen(): boolean {
    return this.seen.size > 0 || this.#bundles.some(({ names }) => names.length > 0);
  }

  finish(): void {
    const seen = [bundleOf([...this.seen]), ...this.#bundles];
    this.#lines(this.#subject, this.#operation, seen, 'read', this.#id);
    if (this.missing.size === 0) return;
    const missing = [bundleOf([...this.missing])];
    this.#lines(this.#subject, this.#operation, missing, 'denied', this.#id);
  }
}
