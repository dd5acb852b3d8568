import { StoreUnavailable } from '../errors.ts';

/**
 * `shortage`: nothing was written, and a later attempt may succeed. `damage`: the state of the disk is unknown, so the
 * store must be opened anew. `misuse`: the call itself is wrong.
 */
export interface SqliteFailure {
  readonly kind: 'shortage' | 'damage' | 'misuse';
  readonly reason: string;
}

// https://sqlite.org/rescode.html
const BUSY = 5;
const IOERR = 10;
/** Busy, no memory, read-only, full, can't be opened; as I/O errors: no memory, no room for shared memory. */
const SHORTAGES = [BUSY, 7, 8, 13, 14, IOERR | (12 << 8), IOERR | (19 << 8)];
/** I/O error, corrupt, not a database. */
const DAMAGES = [IOERR, 11, 26];

const isSqliteError = (error: unknown): error is { errcode: number; errstr: string } =>
  error instanceof Error && 'errcode' in error;

export const isLocked = (error: unknown) => isSqliteError(error) && (error.errcode & 0xff) === BUSY;

/** After a failed fsync the kernel may have dropped the pages, and a second one then succeeds although they are lost. */
export function sqliteFailureOf(error: unknown): SqliteFailure {
  if (error instanceof StoreUnavailable) return { kind: 'misuse', reason: error.message };
  // Never its message: that may quote the value that did not fit, and the reason will be logged.
  const name = error instanceof Error ? error.name : 'unknown';
  if (!isSqliteError(error)) return { kind: 'misuse', reason: name };
  const { errcode, errstr } = error;
  const isOneOf = (codes: number[]) => codes.includes(errcode) || codes.includes(errcode & 0xff);
  const kind = isOneOf(SHORTAGES) ? 'shortage' : isOneOf(DAMAGES) ? 'damage' : 'misuse';
  return { kind, reason: `${errstr} (SQLite code ${errcode})` };
}
