import type pino from 'pino';

/** Longer lines are hard to store and to search. */
const [MAX_RECORDS, MAX_SUBJECTS] = [100, 500];

type Names = readonly string[];
/** The records are `Client:<uuid>` and the like, made of a type and a checked id. */
type Trail = Readonly<{ operation: string; outcome: string; records: Names }>;

export type Audit = ReturnType<typeof createAudit>;

/** Records who read or changed which patient's record, and never its contents. */
export function createAudit(logger: pino.Logger<'audit'>) {
  function write(trail: Trail, who: { readonly subject: string | Names }): void {
    for (const records of chunks(trail.records, MAX_RECORDS))
      logger.audit({ ...who, ...trail, records }, 'audit');
  }

  /** For one operation, or one event that is delivered. */
  function begin(subject: string, operation: string, id?: string, requestId?: string) {
    const who = { subject, id, requestId };
    const [read, denied] = [new Set<string>(), new Set<string>()];
    return {
      read,
      denied,
      recordRead: (record: string) => void read.add(record),
      /** The record was requested and not returned: it does not exist, or is not open to the viewer. */
      recordDenied: (record: string) => void denied.add(record),
      /** Written at once: the operation may never end. */
      writeNow: (outcome: string, record: string) =>
        write({ operation, outcome, records: [record] }, who),
      finish(): void {
        write({ operation, outcome: 'read', records: [...read] }, who);
        write({ operation, outcome: 'denied', records: [...denied] }, who);
      },
    };
  }

  /** For a cached answer. Of more records than a line holds, the lines of the earlier operation are the list. */
  function prepareRepeated(subject: string, operation: string, id: string, read: Names) {
    const records = read.length <= MAX_RECORDS ? read : [];
    const line = logger.child({ subject, operation, id, records, outcome: 'read again' });
    return (requestId: string) => line.audit({ requestId }, 'audit');
  }

  /** What an event shows, or denies, and to whom: its receivers share a line. */
  function delivered(trail: Trail, subjects: Names): void {
    for (const subject of chunks([...new Set(subjects)], MAX_SUBJECTS)) write(trail, { subject });
  }

  return { begin, prepareRepeated, delivered };
}

function* chunks(all: Names, size: number): Generator<Names> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
}
