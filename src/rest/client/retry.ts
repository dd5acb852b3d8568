import type { Clock } from '../clock.ts';

/** How often a request may be sent: a property of the endpoint, not of the HTTP method. */
export type Repeat = 'freely' | 'twice' | 'never';

/** Why an attempt did not succeed, reduced to how certain it is that it had no effect. */
export type Failure =
  | { readonly kind: 'unsent' }
  | { readonly kind: 'unanswered' }
  | {
      readonly kind: 'status';
      readonly status: number;
      /** The application itself answered, in its own envelope. */
      readonly isEnvelope: boolean;
      readonly retryAfterMs: number | undefined;
    };

/** How often each has happened in this call, the present failure included. */
export interface Tally {
  failed: number;
  unauthorized: number;
  throttled: number;
}

const MAX_ATTEMPTS: Readonly<Record<Repeat, number>> = { freely: 3, twice: 2, never: 1 };
const MAX_THROTTLED = 3;
const BACKOFF_BASE_MS = 100;
const BACKOFF_MAX_MS = 2000;
const THROTTLED_BASE_MS = 1000;

/** Milliseconds to wait before the next attempt, or `null` to give up. */
export function nextDelay(
  failure: Failure,
  tally: Readonly<Tally>,
  repeat: Repeat,
  leftMs: number,
  random: () => number = Math.random,
): number | null {
  const delay = delayFor(failure, tally, repeat, random);
  return delay !== null && delay < leftMs ? delay : null;
}

function delayFor(
  failure: Failure,
  tally: Readonly<Tally>,
  repeat: Repeat,
  random: () => number,
): number | null {
  const backoff = (): number =>
    random() * Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** (tally.failed - 1));

  switch (failure.kind) {
    case 'unsent':
      // Nothing was sent, so even what must never be sent twice may be tried once more.
      return tally.failed < Math.max(2, MAX_ATTEMPTS[repeat]) ? backoff() : null;
    case 'unanswered':
      return tally.failed < MAX_ATTEMPTS[repeat] ? backoff() : null;
    case 'status':
      break;
  }
  if (failure.status === 401) {
    // Without the application's envelope it is not certain who refused, nor when.
    const isCertain = failure.isEnvelope || repeat !== 'never';
    return tally.unauthorized === 1 && isCertain ? 0 : null;
  }
  if (failure.status === 429) {
    if (tally.throttled > MAX_THROTTLED) return null;
    return failure.retryAfterMs ?? THROTTLED_BASE_MS * 2 ** (tally.throttled - 1);
  }
  if (failure.status >= 500) return tally.failed < MAX_ATTEMPTS[repeat] ? backoff() : null;
  return null;
}

/** Adds the failure to the tally. */
export function count(failure: Failure, tally: Tally): void {
  if (failure.kind === 'status' && failure.status === 401) tally.unauthorized += 1;
  else if (failure.kind === 'status' && failure.status === 429) tally.throttled += 1;
  else tally.failed += 1;
}

/** 401 and 429 are the API's own invitation to come back; everything else may be an outage. */
export function drawsOnBudget(failure: Failure): boolean {
  return failure.kind !== 'status' || failure.status >= 500;
}

const RETRY_AFTER_MAX_MS = 24 * 3600_000;

/** `Retry-After`: seconds or an HTTP date. Undefined for anything else. */
export function retryAfterMsOf(header: string | undefined, wallNow: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : dateMsOf(text) - wallNow;
  return Number.isNaN(ms) ? undefined : Math.min(RETRY_AFTER_MAX_MS, Math.max(0, ms));
}

// Date.parse takes almost anything for a date; an HTTP date begins with the day's name.
function dateMsOf(text: string): number {
  return /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : Number.NaN;
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

  /** A call is made for the first time. */
  deposit(): void {
    this.saved = Math.min(MAX_SAVED, this.saved + SHARE);
  }

  /** May one be repeated? */
  withdraw(): boolean {
    const elapsed = this.clock.now() - this.refilledAt;
    this.refilledAt += elapsed;
    if (this.saved < FLOOR) this.saved = Math.min(FLOOR, this.saved + elapsed / FLOOR_REFILL_MS);
    if (this.saved < 1) return false;
    this.saved -= 1;
    return true;
  }
}
