/** Past this a line is hard to store and to search: the rest goes into the next one. */
const MAX_RECORDS = 100;
const MAX_SUBJECTS = 500;

export interface AuditLine {
  /** The operation's, as in its own line. */
  readonly id?: string | undefined;
  readonly requestId?: string | undefined;
  /** One, or all who were sent the same event. */
  readonly subject: string | readonly string[];
  readonly operation: string | undefined;
  /** `Client:<uuid>` and the like: which, never what. Made of a type and an id that was checked. */
  readonly records: readonly string[];
  readonly outcome: string;
}

/** Who has seen or changed which record of a patient: names of records, and never what stands in them. */
export type Audit = ReturnType<typeof createAudit>;

export function createAudit(write: (line: AuditLine) => void) {
  function writeAll(line: AuditLine): void {
    const { records } = line;
    if (records.length > 0 && records.length <= MAX_RECORDS) return write(line);
    for (let at = 0; at < records.length; at += MAX_RECORDS)
      write({ ...line, records: records.slice(at, at + MAX_RECORDS) });
  }

  return {
    /** For one operation, or one event that is delivered. */
    begin: (subject: string, operation: string | undefined, id?: string, requestId?: string) =>
      new OperationAudit(writeAll, { subject, operation, id, requestId }),
    /** For the answer of an earlier operation, given to the same viewer again: its records are in that one's lines. */
    again: (subject: string, operation: string | undefined, id: string) => (requestId?: string) =>
      write({ subject, operation, records: [], outcome: 'read again', id, requestId }),
    delivered: createDeliveries(writeAll),
  };
}

export class OperationAudit {
  /** Both may be replaced for a while, to find out what a part of the operation has shown. */
  seen = new Set<string>();
  missing = new Set<string>();
  readonly #write: (line: AuditLine) => void;
  readonly #about: Omit<AuditLine, 'records' | 'outcome'>;

  constructor(write: (line: AuditLine) => void, about: Omit<AuditLine, 'records' | 'outcome'>) {
    this.#write = write;
    this.#about = about;
  }

  /** Shown to the viewer. */
  saw(record: string): void {
    this.seen.add(record);
  }

  /** Asked for and not shown: not there, or not the viewer's. */
  missed(record: string): void {
    this.missing.add(record);
  }

  /** Written at once, since it can't wait for the operation to end well. */
  did(outcome: string, record: string): void {
    this.#write({ ...this.#about, records: [record], outcome });
  }

  finish(): void {
    const { seen, missing } = this;
    if (seen.size > 0) this.#write({ ...this.#about, records: [...seen], outcome: 'read' });
    if (missing.size > 0) this.#write({ ...this.#about, records: [...missing], outcome: 'denied' });
  }
}

/** One event goes to thousands at a time. A line for each of them would cost more than the event: they share one. */
function createDeliveries(write: (line: AuditLine) => void) {
  const waiting = new Map<readonly string[], Map<string | undefined, Set<string>>>();

  function flush(): void {
    for (const [records, byOperation] of waiting) {
      for (const [operation, all] of byOperation) {
        const subjects = [...all];
        for (let at = 0; at < subjects.length; at += MAX_SUBJECTS) {
          const subject = subjects.slice(at, at + MAX_SUBJECTS);
          write({ subject, operation, records, outcome: 'delivered' });
        }
      }
    }
    waiting.clear();
  }

  return (
    subjects: readonly string[],
    operation: string | undefined,
    records: readonly string[],
  ): void => {
    if (waiting.size === 0) setImmediate(flush);
    const byOperation = waiting.get(records) ?? new Map<string | undefined, Set<string>>();
    waiting.set(records, byOperation);
    const all = byOperation.get(operation) ?? new Set();
    for (const subject of subjects) all.add(subject);
    byOperation.set(operation, all);
  };
}
