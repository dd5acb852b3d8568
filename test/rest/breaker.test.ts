import { describe, expect, it } from 'vitest';
import { Breaker } from '../../src/rest/client/breaker.ts';
import type { Verdict } from '../../src/rest/client/breaker.ts';
import { createFakeClock } from '../support/rest/fake-clock.ts';

const createBreaker = (clock = createFakeClock()) => new Breaker(clock, () => {});

function attempts(breaker: Breaker, ...verdicts: readonly Verdict[]): void {
  for (const verdict of verdicts) {
    const call = enter(breaker);
    if (call) breaker.leave(call, verdict);
  }
}
/** The call that was allowed, or undefined if it was rejected. */
function enter(breaker: Breaker): object | undefined {
  if (breaker.refuses()) return undefined;
  const call = {};
  breaker.enter(call);
  return call;
}
const times = (count: number, verdict: Verdict): Verdict[] => Array<Verdict>(count).fill(verdict);

describe('the breaker', () => {
  it('opens after ten failures in a row', () => {
    const breaker = createBreaker();
    attempts(breaker, ...times(9, 'failing'), 'healthy', ...times(9, 'failing'));
    expect(breaker.refuses()).toBe(false);
    attempts(breaker, 'failing');
    expect(breaker.refuses()).toBe(true);
  });

  it('opens when half of the last forty failed', () => {
    const breaker = createBreaker();
    for (let i = 0; i < 19; i++) attempts(breaker, 'failing', 'healthy');
    attempts(breaker, 'healthy');
    expect(breaker.refuses()).toBe(false);
    attempts(breaker, 'failing', 'failing');
    expect(breaker.refuses()).toBe(true);
  });

  it('ignores old failures', () => {
    const breaker = createBreaker();
    attempts(breaker, ...times(9, 'failing'), ...times(40, 'healthy'), ...times(9, 'failing'));
    expect(breaker.refuses()).toBe(false);
  });

  it('ignores inconclusive results', () => {
    const breaker = createBreaker();
    attempts(breaker, ...times(100, 'unclear'));
    expect(breaker.refuses()).toBe(false);
    attempts(breaker, ...times(9, 'failing'), 'unclear', 'failing');
    expect(breaker.refuses()).toBe(true);
  });

  it('allows a single probe after its pause, and closes if it succeeds', () => {
    const clock = createFakeClock();
    const states: string[] = [];
    const breaker = new Breaker(clock, (state) => states.push(state));
    attempts(breaker, ...times(10, 'failing'));
    clock.advance(2000);
    const probe = enter(breaker);
    expect([probe, enter(breaker)]).toEqual([{}, undefined]);
    breaker.leave(probe!, 'healthy');
    expect(enter(breaker)).toBeDefined();
    expect(states).toEqual(['open', 'closed']);
  });

  it('stays open if the probe fails, and allows another if it was inconclusive', () => {
    const clock = createFakeClock();
    const breaker = createBreaker(clock);
    attempts(breaker, ...times(10, 'failing'));
    clock.advance(2000);
    attempts(breaker, 'failing');
    expect(breaker.refuses()).toBe(true);
    clock.advance(2000);
    attempts(breaker, 'unclear');
    expect(enter(breaker)).toBeDefined();
  });

  it('does not treat a late response as the probe', () => {
    const clock = createFakeClock();
    const breaker = createBreaker(clock);
    const early = enter(breaker);
    attempts(breaker, ...times(10, 'failing'));
    clock.advance(2000);
    expect(enter(breaker)).toBeDefined();
    if (early) breaker.leave(early, 'healthy');
    expect(breaker.refuses()).toBe(true);
  });
});
