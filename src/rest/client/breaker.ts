import type { Clock } from '../../clock.ts';

type BreakerState = 'closed' | 'open' | 'half-open';

/** `unclear`: the attempt says nothing about the API's health. */
export type Verdict = 'healthy' | 'failing' | 'unclear';

const CONSECUTIVE_FAILURES = 10;
/** The share of failures is judged over this many attempts, never over fewer. */
const WINDOW = 40;
const OPEN_MS = 2000;

/** A circuit breaker. Each route has its own: failing transcripts must not block the notes. */
export class Breaker {
  state: BreakerState = 'closed';
  /** Why the last attempt failed, for messages while it is open. */
  reason = '';
  private openedAt = 0;
  private consecutive = 0;
  /** The last attempts: true for a failure. */
  private recent: boolean[] = [];
  /** The one attempt that decides whether an open breaker closes. */
  private probe: object | undefined;
  private readonly clock: Clock;
  /** Not called for probes that fail: in a long outage there is one every two seconds. */
  private readonly onChange: (state: 'open' | 'closed') => void;

  constructor(clock: Clock, onChange: (state: 'open' | 'closed') => void) {
    this.clock = clock;
    this.onChange = onChange;
  }

  refuses(): boolean {
    if (this.state === 'closed') return false;
    return this.state === 'half-open' || this.clock.now() - this.openedAt < OPEN_MS;
  }

  /** Begins an attempt, unless `refuses()`. `leave` must be called with the same `caller`. */
  enter(caller: object): void {
    if (this.state === 'closed') return;
    this.probe = caller;
    this.state = 'half-open';
  }

  leave(caller: object, verdict: Verdict): void {
    const isFailing = verdict === 'failing';
    if (this.probe === caller) {
      this.probe = undefined;
      // After an unclear probe the pause is still over, so the next call is another probe.
      if (isFailing) this.openedAt = this.clock.now();
      if (verdict !== 'healthy') {
        this.state = 'open';
        return;
      }
      this.consecutive = 0;
      this.recent = [];
      return this.change('closed');
    }
    // Late answers to requests from before it opened prove nothing.
    if (this.state !== 'closed' || verdict === 'unclear') return;
    this.recent.push(isFailing);
    if (this.recent.length > WINDOW) this.recent.shift();
    this.consecutive = isFailing ? this.consecutive + 1 : 0;
    if (!isFailing) return;
    const isFull = this.recent.length >= WINDOW;
    const isMostlyFailing = isFull && this.recent.filter(Boolean).length * 2 >= WINDOW;
    if (this.consecutive < CONSECUTIVE_FAILURES && !isMostlyFailing) return;
    this.openedAt = this.clock.now();
    this.change('open');
  }

  private change(state: 'open' | 'closed'): void {
    this.state = state;
    this.onChange(state);
  }
}
