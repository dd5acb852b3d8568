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
const SHORTAGES = new Map([
  [BUSY, 'the database is locked'],
  [7, 'out of memory'],
  [8, 'the directory is read-only'],
  [13, 'the disk is full'],
  [14, 'the database file cannot be opened'],
  [IOERR | (12 << 8), 'out of memory'],
  [IOERR | (19 << 8), 'the disk is full'],
]);
const DAMAGES = new Map([
  [IOERR, 'the disk failed to read, write or sync'],
  [11, 'the database file is damaged'],
  [26, 'the file is not a database'],
]);

const codeOf = (error: unknown) =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0;

export const isLocked = (error: unknown) => (codeOf(error) & 0xff) === BUSY;

/** After a failed fsync the kernel may have dropped the pages, and a second one then succeeds although they are lost. */
export function sqliteFailureOf(error: unknown): SqliteFailure {
  if (error instanceof StoreUnavailable) return { kind: 'misuse', reason: error.message };
  const code = codeOf(error);
  const shortage = SHORTAGES.get(code) ?? SHORTAGES.get(code & 0xff);
  if (shortage) return { kind: 'shortage', reason: shortage };
  const damage = DAMAGES.get(code & 0xff);
  if (damage) return { kind: 'damage', reason: `${damage} (SQLite code ${code})` };
  // Its class alone: a message may quote the value that did not fit, and the reason will be logged.
  const name = error instanceof Error ? error.name : 'unknown';
  return { kind: 'misuse', reason: code ? `SQLite code ${code}` : name };
}
