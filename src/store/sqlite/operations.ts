import type { DatabaseSync } from 'node:sqlite';
import { appendStatements } from './append-statements.ts';
import { eventStatements } from './event-statements.ts';
import { factStatements } from './fact-statements.ts';
import type { Indexes } from './indexes.ts';
import { placeStatements } from './place-statements.ts';
import { quarantineStatements } from './quarantine-statements.ts';

/** Everything the worker can be asked for, by name. */
export function createOperations(db: DatabaseSync, indexes: Indexes) {
  return {
    ...appendStatements(db, indexes),
    ...eventStatements(db, indexes),
    ...placeStatements(db),
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
  'placesOf',
  'factsOf',
  'quarantined',
  'countQuarantined',
]);

export const isRead = ([name]: Call) => READS.has(name);
