import type { Log } from './log.ts';

/** Longer lines are hard to store and to search. */
const [MAX_RECORDS, MAX_SUBJECTS] = [100, 500];

type Names = readonly string[];

export interface AuditLine {
  /** The operation's id, as in its log line. */
  readonly id?: string | undefined;
  readonly requestId?: string | undefined;
  /** The viewer, or all viewers who were sent the same event. */
  readonly subject: string | Names;
  readonly operation: string | undefined;
  /** `Client:<uuid>` and the like, made of a type and a checked id. */
  readonly records: Names;
  readonly outcome: string;
}

export type Audit = ReturnType<typeof createAudit>;

/** Records who read or changed which patient's record, and never its contents. */
export function createAudit({ audit: write, prepareAudit }: Pick<Log, 'audit' | 'prepareAudit'>) {
  function writeAll(line: AuditLine): void {
    for (const records of chunks(line.records, MAX_RECORDS)) write({ ...line, records });
  }

  /** For one operation, or one event that is delivered. */
  function begin(subject: string, operation: string | undefined, id?: string, requestId?: string) {
    const about = { subject, operation, id, requestId };
    const [read, denied] = [new Set<string>(), new Set<string>()];
    return {
      read,
      denied,
      recordRead: (record: string) => void read.add(record),
      /** The record was requested and not returned: it does not exist, or is not open to the viewer. */
      recordDenied: (record: string) => void denied.add(record),
      /** Written at once: the operation may never end. */
      writeNow: (outcome: string, record: string) =>
        write({ ...about, records: [record], outcome }),
      finish(): void {
        writeAll({ ...about, records: [...read], outcome: 'read' });
        writeAll({ ...about, records: [...denied], outcome: 'denied' });
      },
    };
  }

  /** For the cached answer of an earlier operation, whose lines name the records. */
  const again = (subject: string, operation: string | undefined, id: string) =>
    prepareAudit({ subject, operation, records: [], outcome: 'read again', id });

  /** What an event shows, or denies: all its receivers share a line. */
  const deliveries = new Map<string, Omit<AuditLine, 'subject'> & { to: Set<string> }>();
  function delivered(
    subjects: Names,
    operation: string | undefined,
    records: Names,
    outcome: 'delivered' | 'denied' = 'delivered',
  ): void {
    if (deliveries.size === 0) setImmediate(writeDeliveries);
    const key = `${outcome} ${operation} ${records.join(' ')}`;
    const to = deliveries.get(key)?.to ?? new Set();
    for (const subject of subjects) to.add(subject);
    deliveries.set(key, { operation, records, outcome, to });
  }
  function writeDeliveries(): void {
    for (const { to, ...line } of deliveries.values())
      for (const subject of chunks([...to], MAX_SUBJECTS)) writeAll({ ...line, subject });
    deliveries.clear();
  }

  return { begin, again, delivered };
}

function* chunks(all: Names, size: number): Generator<Names> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
}
