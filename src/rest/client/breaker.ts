import type { Clock } from '../clock.ts';
import type { CallParts } from './call.ts';

export type BreakerState = 'closed' | 'open' | 'half-open';

/** Leave to make one attempt. A probe alone decides whether an open breaker closes again. */
export type Pass = 'ordinary' | 'probe';

/** `unclear`: the attempt ended without telling anything of the API's health. */
export type Verdict = 'healthy' | 'failing' | 'unclear';

const CONSECUTIVE_FAILURES = 10;
/** The share of failures is judged over this many attempts, never over fewer. */
const WINDOW = 40;
const OPEN_MS = 2000;

/** Keeps an API that is down from being asked over and over, and its callers from waiting for it. One for each route. */
export class Breaker {
  state: BreakerState = 'closed';
  private openedAt = 0;
  private consecutive = 0;
  /** A ring of the last attempts: 1 for a failure. */
  private readonly recent = new Uint8Array(WINDOW);
  private seen = 0;
  private failures = 0;
  private readonly clock: Clock;
  private readonly onChange: (state: BreakerState) => void;

  constructor(clock: Clock, onChange: (state: BreakerState) => void = () => {}) {
    this.clock = clock;
    this.onChange = onChange;
  }

  /** Would `enter` refuse? Half-open means that a probe is under way. */
  refuses(): boolean {
    if (this.state === 'closed') return false;
    return this.state === 'half-open' || this.clock.now() - this.openedAt < OPEN_MS;
  }

  /** Undefined: fail at once. A pass must be given back with a verdict. */
  enter(): Pass | undefined {
    if (this.state === 'closed') return 'ordinary';
    if (this.refuses()) return undefined;
    this.become('half-open');
    return 'probe';
  }

  leave(pass: Pass, verdict: Verdict): void {
    if (pass === 'probe') {
      if (verdict === 'healthy') this.close();
      else if (verdict === 'failing') this.open();
      // Still past its pause, so that the next call probes.
      else this.become('open');
      return;
    }
    // Late answers to what was asked before it opened prove nothing.
    if (this.state !== 'closed' || verdict === 'unclear') return;
    this.count(verdict === 'failing' ? 1 : 0);
    const isMostlyFailing = this.seen >= WINDOW && this.failures * 2 >= WINDOW;
    const isFailing = verdict === 'failing' && isMostlyFailing;
    if (this.consecutive >= CONSECUTIVE_FAILURES || isFailing) this.open();
  }

  private become(next: BreakerState): void {
    this.state = next;
    this.onChange(next);
  }

  private open(): void {
    this.openedAt = this.clock.now();
    this.become('open');
  }

  private close(): void {
    this.seen = this.failures = this.consecutive = 0;
    this.become('closed');
  }

  private count(failure: 0 | 1): void {
    const at = this.seen % WINDOW;
    this.failures += failure - (this.seen >= WINDOW ? (this.recent[at] ?? 0) : 0);
    this.recent[at] = failure;
    this.seen += 1;
    this.consecutive = failure ? this.consecutive + 1 : 0;
  }
}

/** One for each route: transcripts that fail must not take along the notes that don't. */
export function breakerOf({ breakers, clock, observer }: CallParts, template: string): Breaker {
  const known = breakers.get(template);
  if (known) return known;
  const breaker = new Breaker(clock, (state) => observer.breakerChanged?.(state, template));
  breakers.set(template, breaker);
  return breaker;
}

/** Of all routes together: `closed` only if all are. */
export function worstOf(breakers: Iterable<Breaker>): BreakerState {
  const states = new Set(Array.from(breakers, ({ state }) => state));
  if (states.has('open')) return 'open';
  return states.has('half-open') ? 'half-open' : 'closed';
}
