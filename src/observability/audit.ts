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
  /** `Client:<uuid>` and the like, made of a type and a checked id: which, never what. */
  readonly records: readonly string[];
  readonly outcome: string;
}

/** Who has seen or changed which record of a patient: names of records, and never what stands in them. */
export type Audit = ReturnType<typeof createAudit>;
export type OperationAudit = ReturnType<Audit['begin']>;

export function createAudit(write: (line: AuditLine) => void) {
  function writeAll(line: AuditLine): void {
    const { records } = line;
    for (let at = 0; at < records.length; at += MAX_RECORDS)
      write({ ...line, records: records.slice(at, at + MAX_RECORDS) });
  }

  /** For one operation, or one event that is delivered. */
  function begin(subject: string, operation: string | undefined, id?: string, requestId?: string) {
    const about = { subject, operation, id, requestId };
    const audit = {
      /** Both may be replaced for a while, to find out what a part of the operation has shown. */
      seen: new Set<string>(),
      missing: new Set<string>(),
      /** Shown to the viewer. */
      saw: (record: string) => void audit.seen.add(record),
      /** Asked for and not shown: not there, or not the viewer's. */
      missed: (record: string) => void audit.missing.add(record),
      /** Written at once, since it can't wait for the operation to end well. */
      did: (outcome: string, record: string) => write({ ...about, records: [record], outcome }),
      finish(): void {
        writeAll({ ...about, records: [...audit.seen], outcome: 'read' });
        writeAll({ ...about, records: [...audit.missing], outcome: 'denied' });
      },
    };
    return audit;
  }

  /** For the answer of an earlier operation, given to the same viewer again: its records are in that one's lines. */
  const again = (subject: string, operation: string | undefined, id: string) => {
    const line: AuditLine = { subject, operation, records: [], outcome: 'read again', id };
    return (requestId?: string) => write({ ...line, requestId });
  };

  /** An event goes to thousands at a time. A line for each of them would cost more than the event: they share one. */
  const deliveries = new Map<string, Omit<AuditLine, 'subject'> & { subjects: Set<string> }>();

  function writeDeliveries(): void {
    for (const { subjects, ...line } of deliveries.values()) {
      const all = [...subjects];
      for (let at = 0; at < all.length; at += MAX_SUBJECTS)
        writeAll({ ...line, subject: all.slice(at, at + MAX_SUBJECTS) });
    }
    deliveries.clear();
  }

  function delivered(
    subjects: readonly string[],
    operation: string | undefined,
    records: readonly string[],
  ): void {
    if (deliveries.size === 0) setImmediate(writeDeliveries);
    const key = `${operation} ${records.join(' ')}`;
    const same = deliveries.get(key)?.subjects ?? new Set();
    for (const subject of subjects) same.add(subject);
    deliveries.set(key, { operation, records, outcome: 'delivered', subjects: same });
  }

  return { begin, again, delivered };
}
