import type { DatabaseSync } from 'node:sqlite';
import { appendStatements } from './append-statements.ts';
import { eventStatements } from './event-statements.ts';
import { factStatements } from './fact-statements.ts';
import { lineageStatements } from './lineage-statements.ts';
import { subjectStatements } from './subject-statements.ts';
import { quarantineStatements } from './quarantine-statements.ts';

/** Everything the worker can be asked for, by name. */
export function createOperations(db: DatabaseSync) {
  const { indexSubject, eventsOfSubject } = subjectStatements(db);
  return {
    ...appendStatements(db, indexSubject),
    eventsOfSubject,
    ...eventStatements(db),
    ...lineageStatements(db),
    ...factStatements(db),
    ...quarantineStatements(db),
  };
}

export type Operations = ReturnType<typeof createOperations>;
export type OperationName = keyof Operations;

/** A name and its arguments, as they cross to the worker. */
export type Call = readonly [name: OperationName, ...args: readonly unknown[]];

const READS: ReadonlySet<OperationName> = new Set<OperationName>([
  'bounds',
  'eventsAfter',
  'eventsOfSubject',
  'parentsOf',
  'childrenOf',
  'factsOf',
  'quarantined',
  'countQuarantined',
]);

export const isRead = ([name]: Call) => READS.has(name);
