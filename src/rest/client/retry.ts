import type { Clock } from '../../clock.ts';
import type { PartnerError } from '../errors.ts';

/** How often a request may be sent: a property of the endpoint, not of the HTTP method. */
export type Repeat = 'freely' | 'twice' | 'never';

/** An attempt that failed. */
export interface Failure {
  /** `unsent`: it had no effect for certain. `unanswered`: a 5xx too. `final`: another attempt would not help. */
  readonly kind: 'unsent' | 'unanswered' | 'unauthorized' | 'throttled' | 'final';
  readonly error: PartnerError;
  /** The request may have taken effect all the same. */
  readonly isUnclear: boolean;
  readonly retryAfterMs?: number | undefined;
  /** Which credential a 403 is about. */
  readonly refused?: 'token' | 'api-key' | undefined;
}

const MAX_ATTEMPTS: Readonly<Record<Repeat, number>> = { freely: 3, twice: 2, never: 1 };
const MAX_THROTTLED = 3;
const BACKOFF_BASE_MS = 100;
const BACKOFF_MAX_MS = 2000;
const THROTTLED_BASE_MS = 1000;

/** Milliseconds to wait before the next attempt, or `null` to give up. `failures` are those of this call so far. */
export function nextDelay(
  failures: readonly Pick<Failure, 'kind' | 'isUnclear' | 'retryAfterMs'>[],
  repeat: Repeat,
  leftMs: number,
  random: () => number = Math.random,
): number | null {
  const delay = delayAfter(failures, repeat, random);
  return delay !== null && delay < leftMs ? delay : null;
}

function delayAfter(
  failures: Parameters<typeof nextDelay>[0],
  repeat: Repeat,
  random: () => number,
): number | null {
  const last = failures.at(-1);
  const alike = failures.filter(({ kind }) => kind === last?.kind).length;
  switch (last?.kind) {
    case 'unauthorized':
      // An unclear 401 is not the application's own: the request may have reached it.
      return alike === 1 && (repeat !== 'never' || !last.isUnclear) ? 0 : null;
    case 'throttled':
      if (alike > MAX_THROTTLED) return null;
      return last.retryAfterMs ?? THROTTLED_BASE_MS * 2 ** (alike - 1);
    case 'unsent':
    case 'unanswered': {
      const failed = failures.filter(isOutage).length;
      // Nothing was sent, so even what must never be sent twice may be tried once more.
      const max = Math.max(last.kind === 'unsent' ? 2 : 1, MAX_ATTEMPTS[repeat]);
      if (failed >= max) return null;
      return random() * Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** (failed - 1));
    }
    default:
      return null;
  }
}

/** Retries of these draw on the retry budget. 401 and 429 are the API's own request to come back. */
export function isOutage({ kind }: Pick<Failure, 'kind'>): boolean {
  return kind === 'unsent' || kind === 'unanswered';
}

const RETRY_AFTER_MAX_MS = 24 * 3600_000;

/** `Retry-After`: seconds or an HTTP date. Undefined for anything else. */
export function retryAfterMsOf(header: string | undefined, wallNow: number): number | undefined {
  const text = header?.trim() ?? '';
  // Date.parse accepts almost anything; an HTTP date begins with the day's name.
  const isDate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text);
  const seconds = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  const ms = isDate ? Date.parse(text) - wallNow : seconds * 1000;
  return Number.isNaN(ms) ? undefined : Math.min(RETRY_AFTER_MAX_MS, Math.max(0, ms));
}

const SHARE = 0.1;
/** In quiet times a tenth of nothing would forbid the one retry that helps. */
const FLOOR = 10;
const FLOOR_REFILL_MS = 2000;
/** Good times must not save up for an outage. */
const MAX_SAVED = 20;

/** Retries of all calls together: in an outage each call must not become three. */
export class RetryBudget {
  private saved = FLOOR;
  private refilledAt: number;
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
    this.refilledAt = clock.now();
  }

  /** For each new call. */
  deposit(): void {
    this.saved = Math.min(MAX_SAVED, this.saved + SHARE);
  }

  /** For each retry. False: not allowed. */
  withdraw(): boolean {
    const elapsed = this.clock.now() - this.refilledAt;
    this.refilledAt += elapsed;
    if (this.saved < FLOOR) this.saved = Math.min(FLOOR, this.saved + elapsed / FLOOR_REFILL_MS);
    if (this.saved < 1) return false;
    this.saved -= 1;
    return true;
  }
}
