import type { DatabaseSync } from 'node:sqlite';
import type { Failure } from './failure.ts';
import { failureOf } from './failure.ts';
import type { Indexes } from './indexes.ts';
import type { Call, Operations } from './operations.ts';
import { isRead } from './operations.ts';

/** For each call its answer; or why all failed; or, where they fared differently, a reply for each. */
export type Reply =
  | { readonly answers: readonly unknown[] }
  | { readonly failure: Failure }
  | { readonly replies: readonly Reply[] };

export interface Engine {
  readonly db: DatabaseSync;
  readonly indexes: Indexes;
  readonly operations: Operations;
}

function inTransaction<Result>({ db, indexes }: Engine, work: () => Result): Result {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    indexes.forget();
    // Some failures have rolled back already.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** One commit, and so one fsync, for all calls that waited. */
export function runBatch(engine: Engine, calls: readonly Call[]): Reply {
  const run = ([name, ...args]: Call) =>
    (engine.operations[name] as (...args: readonly unknown[]) => unknown)(...args);
  try {
    const readOnly = calls.every(isRead);
    const answers = readOnly ? calls.map(run) : inTransaction(engine, () => calls.map(run));
    return { answers };
  } catch (error) {
    const failure = failureOf(error);
    if (calls.length === 1) return { failure };
    // Reads need no disk space, and one call's bad argument is not its neighbours' fault.
    const alone = (call: Call) => failure.kind === 'misuse' || isRead(call);
    return {
      replies: calls.map((call) => (alone(call) ? runBatch(engine, [call]) : { failure })),
    };
  }
}
