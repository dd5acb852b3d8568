import type { Clock } from '../../clock.ts';
import type { PartnerError } from '../errors.ts';

/** `unsent`: it certainly had no effect. `unanswered`: no answer, or a 5xx. */
type Retryable = 'unsent' | 'unanswered' | 'unauthorized' | 'throttled';

/** An attempt that failed. */
export interface Failure {
  /** `token-suspect`: a 403 that may mean an unknown token. */
  readonly kind: Retryable | 'token-suspect' | 'key-refused' | 'final';
  readonly error: PartnerError;
  readonly mayHaveTakenEffect?: boolean;
  readonly retryAfterMs?: number | undefined;
}

const MAX_THROTTLED = 3;
const BACKOFF_BASE_MS = 100;
const THROTTLED_BASE_MS = 1_000;

/** Milliseconds to wait before the next attempt, or `null` to give up. `failures`: all of this call, at least one. */
export function nextDelay(
  failures: readonly Failure[],
  maxAttempts: number,
  leftMs: number,
  random: () => number,
): number | null {
  const last = failures.at(-1)!;
  const sameKind = failures.filter(({ kind }) => kind === last.kind).length;
  let delayMs = Number.POSITIVE_INFINITY;
  if (last.kind === 'unauthorized') {
    // A 401 that is not the application's own may come from a proxy, behind which the request may have had an effect.
    if (sameKind === 1 && (maxAttempts > 1 || !last.mayHaveTakenEffect)) delayMs = 0;
  } else if (last.kind === 'throttled' && sameKind <= MAX_THROTTLED) {
    delayMs = last.retryAfterMs ?? THROTTLED_BASE_MS * 2 ** (sameKind - 1);
  } else if (isOutage(last)) {
    const failed = failures.filter(isOutage).length;
    // Nothing was sent, so even a request that must not be repeated may be tried once more.
    const max = Math.max(last.kind === 'unsent' ? 2 : 1, maxAttempts);
    if (failed < max) delayMs = random() * BACKOFF_BASE_MS * 2 ** (failed - 1);
  }
  return delayMs < leftMs ? delayMs : null;
}

/** Only these retries count against the retry budget: after a 401 or a 429 the API itself asks for a retry. */
export const isOutage = ({ kind }: Failure): boolean => kind === 'unsent' || kind === 'unanswered';

/** `Retry-After`: seconds or an HTTP date, at most a day. Undefined for anything else. */
export function retryAfterMsOf(header: string | undefined, wallNow: number): number | undefined {
  const text = header?.trim() ?? '';
  // Date.parse accepts almost anything; an HTTP date begins with the day's name. The form of C's asctime names no zone.
  const isDate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text);
  const date = / \d{4}$/.test(text) ? `${text} GMT` : text;
  const seconds = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  const ms = isDate ? Date.parse(date) - wallNow : seconds * 1_000;
  return Number.isNaN(ms) ? undefined : Math.min(24 * 3_600_000, Math.max(0, ms));
}

/** A few retries are saved up, since a tenth of few calls would allow none. More would be spent in an outage. */
const MAX_SAVED = 10;
const REFILL_MS = 2_000;

/** A budget for the retries of all calls together: in an outage, retries must not triple the load. */
export function createRetryBudget(clock: Clock) {
  let saved = MAX_SAVED;
  let refilledAt = clock.now();
  return {
    /** Called for each new call: a tenth of the calls may be repeated. */
    deposit(): void {
      saved = Math.min(MAX_SAVED, saved + 0.1);
    },
    /** Called for each retry. False if it is not allowed. */
    withdraw(): boolean {
      const now = clock.now();
      saved = Math.min(MAX_SAVED, saved + (now - refilledAt) / REFILL_MS);
      refilledAt = now;
      if (saved < 1) return false;
      saved -= 1;
      return true;
    },
  };
}
