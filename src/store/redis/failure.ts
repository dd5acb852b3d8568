import { StoreUnavailable } from '../errors.ts';

const REASONS = new Map([
  ['LOADING', 'it is still loading its data'],
  ['READONLY', 'it is a read-only replica'],
  ['MASTERDOWN', 'it is a replica without a primary'],
  ['OOM', 'it is out of memory: raise maxmemory'],
  ['MISCONF', 'it cannot write to its disk'],
  ['NOREPLICAS', 'it has too few replicas'],
  ['NOAUTH', 'it wants a password'],
  ['WRONGPASS', 'it refuses the user name or password'],
  ['NOPERM', 'the user may not run this command'],
  ['MOVED', 'it is a cluster, and one server is wanted'],
]);

const NOT_PRIMARY = new Set(['READONLY', 'MASTERDOWN', 'UNBLOCKED', 'NOREPLICAS']);

/** It was demoted, or cut off: the primary may be another server by now. */
export const isNotPrimary = (error: unknown) => NOT_PRIMARY.has(codeOf(error));

/** Redis begins its errors with a code in capitals; a socket's error has one, too. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return /^[A-Z]{2,}(?= )/.exec(error.message)?.[0] ?? error.constructor.name;
}

/** Only codes: a message may quote the command, and with it what should not be logged. */
export function unavailable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  const code = codeOf(error);
  const reason = REASONS.get(code);
  return new StoreUnavailable(`Redis failed: ${reason ? `${reason} (${code})` : code}`, {
    cause: error,
  });
}
