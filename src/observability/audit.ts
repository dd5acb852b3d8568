import type pino from 'pino';

/** Of records, and of subjects. Longer lines are hard to store and to search, and the spool is limited in lines. */
const MAX_ITEMS = 100;

/** The records are `Client:<uuid>` and the like, made of a type and a checked id. */
type Trail = Readonly<{ operation: string; outcome: string; records: readonly string[] }>;

export type Audit = ReturnType<typeof createAudit>;

/** Records who read or changed which patient's record, and never its contents. */
export function createAudit(logger: pino.Logger<'audit'>) {
  function write(trail: Trail, who: { readonly subject: string | readonly string[] }): void {
    for (const records of chunks(trail.records, MAX_ITEMS))
      logger.audit({ ...who, ...trail, records }, 'audit');
  }

  /** For one operation, or one event that is delivered. */
  function begin(subject: string, operation: string, id?: string, requestId?: string) {
    const who = { subject, id, requestId };
    const [read, denied] = [new Set<string>(), new Set<string>()];
    return {
      read,
      /** Records that were requested and not returned: they do not exist, or are not open to the viewer. */
      denied,
      /** Written at once: the operation may never end. */
      writeNow: (outcome: string, record: string) =>
        write({ operation, outcome, records: [record] }, who),
      finish(): void {
        write({ operation, outcome: 'read', records: [...read] }, who);
        write({ operation, outcome: 'denied', records: [...denied] }, who);
      },
      /** For the cached answer. Of more records than a line holds, the lines of this operation are the list. */
      prepareRepeated() {
        if (read.size === 0) return undefined;
        const records = read.size <= MAX_ITEMS ? [...read] : [];
        const line = logger.child({ subject, operation, id, records, outcome: 'read again' });
        return (nextId: string) => line.audit({ requestId: nextId }, 'audit');
      },
    };
  }

  /** What an event shows, or denies, and to whom: its receivers share a line. */
  function delivered(trail: Trail, subjects: readonly string[]): void {
    for (const subject of chunks([...new Set(subjects)], MAX_ITEMS)) write(trail, { subject });
  }

  return { begin, delivered };
}

function* chunks(all: readonly string[], size: number): Generator<readonly string[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
}
