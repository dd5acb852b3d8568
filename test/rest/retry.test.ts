import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Call } from '../../src/rest/client/call.ts';
import { failureOf } from '../../src/rest/client/response.ts';
import {
  createRetryBudget,
  isOutage,
  nextDelay,
  retryAfterMsOf,
} from '../../src/rest/client/retry.ts';
import type { Failure } from '../../src/rest/client/retry.ts';
import { Attempt } from '../../src/rest/client/transport.ts';
import type { Outcome } from '../../src/rest/client/transport.ts';
import { createFakeClock } from '../support/rest/fake-clock.ts';

function failure(
  outcome: Outcome,
  status = 0,
  body = '{"error":{}}',
  retryAfter?: string,
): Failure {
  const attempt = new Attempt({} as Call, 'token', 0);
  Object.assign(attempt, { outcome, status, body: Buffer.from(body), retryAfter });
  return failureOf('/route', attempt, 0);
}
const status = (code: number, body?: string, retryAfter?: string): Failure =>
  failure('answered', code, body, retryAfter);

/** The number of attempts of a call if each of them fails like this. */
function attemptsOf(each: Failure, maxAttempts: number, leftMs = 15_000): number {
  for (let attempts = 1; attempts < 100; attempts++) {
    const failures = Array<Failure>(attempts).fill(each);
    if (nextDelay(failures, maxAttempts, leftMs, () => 0.5) === null) return attempts;
  }
  throw new Error('it never gives up');
}

/** The wait after this many failures in a row. */
const delay = (failed: number, random: number) =>
  nextDelay(Array<Failure>(failed).fill(failure('reset')), 3, 15_000, () => random);

describe('the number of attempts of a call', () => {
  it.each<[string, Failure, number, number, number]>([
    //                            freely, twice, never
    ['a connection that was never made', failure('unsent'), 3, 2, 2],
    ['no answer', failure('timeout'), 3, 2, 1],
    ['401 of the application', status(401), 2, 2, 2],
    ['401 of another server', status(401, '<p>'), 2, 2, 1],
    ['429', status(429), 4, 4, 4],
    ['500', status(500), 3, 2, 1],
    ['502', status(502), 3, 2, 1],
    ['503', status(503), 3, 2, 1],
    ['504', status(504), 3, 2, 1],
    ['302', status(302), 1, 1, 1],
    ['400', status(400), 1, 1, 1],
    ['403', status(403), 1, 1, 1],
    ['404', status(404), 1, 1, 1],
    ['409', status(409), 1, 1, 1],
  ])('follows the table: %s', (_, each, freely, twice, never) => {
    expect(attemptsOf(each, 3)).toBe(freely);
    expect(attemptsOf(each, 2)).toBe(twice);
    expect(attemptsOf(each, 1)).toBe(never);
  });

  it('waits longer each time, with random jitter', () => {
    expect([delay(1, 1), delay(2, 1)]).toEqual([100, 200]);
    expect([delay(1, 0.5), delay(2, 0)]).toEqual([50, 0]);
  });

  it('waits as long as a 429 requires, if there is time', () => {
    expect(nextDelay([status(429, '{}', '5')], 1, 15_000, () => 0)).toBe(5000);
    expect(nextDelay([status(429, '{}', '15')], 3, 15_000, () => 0)).toBeNull();
  });

  it('stops when no time is left', () => {
    expect(attemptsOf(failure('timeout'), 3, 0)).toBe(1);
    expect(attemptsOf(failure('unsent'), 3, -5)).toBe(1);
  });

  it('uses the retry budget only for outages', () => {
    expect([status(401), status(429)].some(isOutage)).toBe(false);
    expect([status(500), failure('unsent'), failure('reset')].every(isOutage)).toBe(true);
  });
});

describe('Retry-After', () => {
  const now = Date.UTC(2030, 0, 1);

  it.each([
    ['5', 5000],
    [' 0 ', 0],
    ['99999999', 24 * 3600_000],
    [new Date(now + 7000).toUTCString(), 7000],
    [new Date(now - 7000).toUTCString(), 0],
    ['soon', undefined],
    ['-3', undefined],
    ['1.5e3', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('reads %j as %j ms', (header, expected) => {
    expect(retryAfterMsOf(header, now)).toBe(expected);
  });

  it('reads a date without a zone as GMT, wherever the gateway runs', () => {
    vi.stubEnv('TZ', 'America/New_York');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(retryAfterMsOf('Tue Jan  1 00:00:07 2030', now)).toBe(7000);
  });
});

describe('the retry budget', () => {
  it('allows a tenth of the calls, and ten with few calls', () => {
    const budget = createRetryBudget(createFakeClock());
    let retries = 0;
    for (let i = 0; i < 1000; i++) {
      budget.deposit();
      if (budget.withdraw()) retries += 1;
    }
    expect(retries).toBeGreaterThanOrEqual(100);
    expect(retries).toBeLessThanOrEqual(111);
  });

  it('refills while there are no calls', () => {
    const clock = createFakeClock();
    const budget = createRetryBudget(clock);
    while (budget.withdraw());
    clock.advance(60_000);
    let retries = 0;
    while (budget.withdraw()) retries += 1;
    expect(retries).toBe(10);
  });
});
