import type { AuditLines, OperationAudit } from './operation-audit.ts';
import { createOperationAudit } from './operation-audit.ts';
import type { AuditLine, Bundle } from './request-lines.ts';
import { bundleOf } from './request-lines.ts';

/** Past this a line is hard to store and to search: the rest goes into the next one. */
const MOST_RECORDS = 100;
const MOST_SUBJECTS = 500;

/** Who has seen or changed which record of a patient: names of records, and never what stands in them. */
export interface Audit {
  /** For one operation, or one event that is delivered. */
  begin(subject: string, operation: string | undefined, id?: string): OperationAudit;
  /** For the very answer of an earlier operation, shown to the same viewer again: what was in it is in that one's lines. */
  again(subject: string, operation: string | undefined, id: string): () => void;
  /** One event, shown to these. Those who get it in the same moment share a line. */
  delivered(
    subjects: readonly string[],
    operation: string | undefined,
    records: readonly string[],
  ): void;
}

export function createAudit(
  write: (line: AuditLine) => void,
  repeated: (line: AuditLine) => () => void = (line) => () => write(line),
): Audit {
  const lines: AuditLines = (subject, operation, records, outcome, id) => {
    for (const some of inLines(records)) {
      write({ subject, operation, records: some, outcome, ...(id && { id }) });
    }
  };

  const begin: Audit['begin'] = (subject, operation, id) =>
    createOperationAudit(lines, subject, operation, id);

  const again: Audit['again'] = (subject, operation, id) =>
    repeated({ subject, operation, records: [], outcome: 'read again', id });

  return { begin, again, delivered: createDeliveries(lines) };
}

/** Bundles as they are put into lines: together while there is room, and in pieces if one is too long by itself. */
function inLines(bundles: readonly Bundle[]): Bundle[][] {
  const lines: Bundle[][] = [];
  let room = 0;
  const put = (bundle: Bundle): void => {
    if (bundle.names.length > room) {
      lines.push([]);
      room = MOST_RECORDS;
    }
    lines.at(-1)?.push(bundle);
    room -= bundle.names.length;
  };
  for (const bundle of bundles) {
    const { names } = bundle;
    if (names.length > 0 && names.length <= MOST_RECORDS) put(bundle);
    else
      for (let at = 0; at < names.length; at += MOST_RECORDS)
        put(bundleOf(names.slice(at, at + MOST_RECORDS)));
  }
  return lines;
}

/** An event goes to thousands in one turn: a line for each of them would cost more than the event itself. */
function createDeliveries(lines: AuditLines): Audit['delivered'] {
  const waiting = new Map<readonly string[], Map<string | undefined, Set<string>>>();

  function flush(): void {
    for (const [records, byOperation] of waiting) {
      const bundles = [bundleOf(records)];
      for (const [operation, subjects] of byOperation) {
        const all = [...subjects];
        for (let at = 0; at < all.length; at += MOST_SUBJECTS) {
          lines(all.slice(at, at + MOST_SUBJECTS), operation, bundles, 'delivered');
        }
      }
    }
    waiting.clear();
  }

  return (subjects, operation, records) => {
    if (waiting.size === 0) setImmediate(flush);
    const byOperation = waiting.get(records) ?? new Map<string | undefined, Set<string>>();
    waiting.set(records, byOperation);
    const all = byOperation.get(operation) ?? new Set();
    for (const subject of subjects) all.add(subject);
    byOperation.set(operation, all);
  };
}
