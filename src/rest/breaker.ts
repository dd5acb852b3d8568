import type { Clock } from './clock.ts';

export type BreakerState = 'closed' | 'open' | 'half-open';

/** Leave to make one attempt. A probe alone decides whether an open breaker closes again. */
export type Pass = 'ordinary' | 'probe';

/** `unclear`: the attempt ended without telling anything of the API's health. */
export type Verdict = 'healthy' | 'failing' | 'unclear';

/** Keeps an API that is down from being asked over and over, and its callers from waiting for it. */
export interface Breaker {
  readonly state: BreakerState;
  /** Would `enter` refuse? */
  refuses(): boolean;
  /** Undefined: fail at once. A pass must be given back with a verdict. */
  enter(): Pass | undefined;
  leave(pass: Pass, verdict: Verdict): void;
}

const CONSECUTIVE_FAILURES = 10;
/** The share of failures is judged over this many attempts, never over fewer. */
const WINDOW = 40;
const OPEN_MS = 2000;

export function createBreaker(
  clock: Clock,
  onChange: (state: BreakerState) => void = () => {},
): Breaker {
  let state: BreakerState = 'closed';
  let openedAt = 0;
  let consecutive = 0;
  // A ring of the last attempts: 1 for a failure.
  const recent = new Uint8Array(WINDOW);
  let seen = 0;
  let failures = 0;

  const become = (next: BreakerState): void => {
    state = next;
    onChange(next);
  };
  const open = (): void => {
    openedAt = clock.now();
    become('open');
  };
  const close = (): void => {
    seen = failures = consecutive = 0;
    become('closed');
  };
  const remember = (failure: 0 | 1): void => {
    const at = seen % WINDOW;
    failures += failure - (seen >= WINDOW ? (recent[at] ?? 0) : 0);
    recent[at] = failure;
    seen += 1;
    consecutive = failure ? consecutive + 1 : 0;
  };
  // Half-open means that a probe is under way.
  const refuses = (): boolean =>
    state === 'half-open' || (state === 'open' && clock.now() - openedAt < OPEN_MS);

  return {
    get state() {
      return state;
    },
    refuses,
    enter() {
      if (state === 'closed') return 'ordinary';
      if (refuses()) return undefined;
      become('half-open');
      return 'probe';
    },
    leave(pass, verdict) {
      if (pass === 'probe') {
        if (verdict === 'healthy') close();
        else if (verdict === 'failing') open();
        // Still past its pause, so that the next call probes.
        else become('open');
        return;
      }
      // Late answers to what was asked before it opened prove nothing.
      if (state !== 'closed' || verdict === 'unclear') return;
      remember(verdict === 'failing' ? 1 : 0);
      const isMostlyFailing = seen >= WINDOW && failures * 2 >= WINDOW;
      if (consecutive >= CONSECUTIVE_FAILURES || (verdict === 'failing' && isMostlyFailing)) open();
    },
  };
}
