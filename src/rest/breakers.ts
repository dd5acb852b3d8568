import { createBreaker } from './breaker.ts';
import type { Breaker, BreakerState } from './breaker.ts';
import type { Clock } from './clock.ts';

/** A breaker for each route: transcripts that fail must not take along the notes that don't. */
export interface Breakers {
  of(template: string): Breaker;
  /** `closed` only if all are. */
  readonly state: BreakerState;
}

export function createBreakers(
  clock: Clock,
  onChange: (state: BreakerState, template: string) => void,
): Breakers {
  // By template: as many as the API has routes.
  const breakers = new Map<string, Breaker>();

  return {
    of(template) {
      const known = breakers.get(template);
      if (known) return known;
      const breaker = createBreaker(clock, (state) => onChange(state, template));
      breakers.set(template, breaker);
      return breaker;
    },
    get state() {
      const states = new Set(Array.from(breakers.values(), (breaker) => breaker.state));
      if (states.has('open')) return 'open';
      return states.has('half-open') ? 'half-open' : 'closed';
    },
  };
}
