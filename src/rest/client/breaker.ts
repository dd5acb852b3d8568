import type { Clock } from '../../clock.ts';

/** `unclear`: the attempt says nothing about the API's health. */
export type Verdict = 'healthy' | 'failing' | 'unclear';

const CONSECUTIVE_FAILURES = 10;
/** The share of failures is judged over this many attempts, never over fewer. */
const WINDOW = 40;
const OPEN_MS = 2_000;

/** A circuit breaker. Each endpoint has its own: failing transcripts must not block the notes, nor failing changes the reads. */
export class Breaker {
  /** Why the last attempt failed, for messages while it is open. */
  reason = '';
  /** When it opened, or when its last probe failed. Undefined while it is closed. */
  private openedAt: number | undefined;
  /** The one attempt that decides whether an open breaker closes. */
  private probe: object | undefined;
  /** The last attempts: true for a failure. */
  private recent: boolean[] = [];
  private readonly clock: Clock;
  /** Not called for probes that fail: in a long outage there is one every two seconds. */
  private readonly onChange: (state: 'open' | 'closed') => void;

  constructor(clock: Clock, onChange: (state: 'open' | 'closed') => void) {
    this.clock = clock;
    this.onChange = onChange;
  }

  refuses(): boolean {
    if (this.openedAt === undefined) return false;
    return this.probe !== undefined || this.clock.now() - this.openedAt < OPEN_MS;
  }

  /** Begins an attempt, unless `refuses()`. `leave` must be called with the same `caller`. */
  enter(caller: object): void {
    if (this.openedAt !== undefined) this.probe = caller;
  }

  leave(caller: object, verdict: Verdict): void {
    const isFailing = verdict === 'failing';
    if (this.probe === caller) {
      this.probe = undefined;
      // After an unclear probe the pause is still over, so the next call is another probe.
      if (isFailing) this.openedAt = this.clock.now();
      if (verdict !== 'healthy') return;
      this.openedAt = undefined;
      this.recent = [];
      return this.onChange('closed');
    }
    // Late answers to requests from before it opened prove nothing.
    if (this.openedAt !== undefined || verdict === 'unclear') return;
    this.recent.push(isFailing);
    if (this.recent.length > WINDOW) this.recent.shift();
    if (!isFailing) return;
    const { length } = this.recent;
    const consecutive = length - 1 - this.recent.lastIndexOf(false);
    const isMostlyFailing = length === WINDOW && this.recent.filter(Boolean).length * 2 >= WINDOW;
    if (consecutive < CONSECUTIVE_FAILURES && !isMostlyFailing) return;
    this.openedAt = this.clock.now();
    this.onChange('open');
  }
}
