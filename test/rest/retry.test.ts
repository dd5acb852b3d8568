import { describe, expect, it } from 'vitest';
import { count, drawsOnBudget, nextDelay, retryAfterMsOf } from '../../src/rest/client/retry.ts';
import type { Failure, Repeat } from '../../src/rest/client/retry.ts';

const status = (code: number, isEnvelope = true, retryAfterMs?: number): Failure => ({
  kind: 'status',
  status: code,
  isEnvelope,
  retryAfterMs,
});

/** How many attempts a call makes in all if every one of them ends like this. */
function attemptsOf(failure: Failure, repeat: Repeat, leftMs = 15_000): number {
  const tally = { failed: 0, unauthorized: 0, throttled: 0 };
  for (let attempts = 1; attempts < 100; attempts++) {
    count(failure, tally);
    if (nextDelay(failure, tally, repeat, leftMs, () => 0.5) === null) return attempts;
  }
  throw new Error('it never gives up');
}

/** The wait after so many failures in a row. */
const delay = (failed: number, random: number) =>
  nextDelay(
    { kind: 'unanswered' },
    { failed, unauthorized: 0, throttled: 0 },
    'freely',
    15_000,
    () => random,
  );

describe('how often a call is sent', () => {
  it.each<[string, Failure, number, number, number]>([
    //                            freely, twice, never
    ['a connection that was never made', { kind: 'unsent' }, 3, 2, 2],
    ['no answer', { kind: 'unanswered' }, 3, 2, 1],
    ['401 of the application', status(401), 2, 2, 2],
    ['401 of somebody else', status(401, false), 2, 2, 1],
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
  ])('follows the table: %s', (_, failure, freely, twice, never) => {
    expect(attemptsOf(failure, 'freely')).toBe(freely);
    expect(attemptsOf(failure, 'twice')).toBe(twice);
    expect(attemptsOf(failure, 'never')).toBe(never);
  });

  it('waits longer each time, by a random share of it', () => {
    expect([delay(1, 1), delay(2, 1)]).toEqual([100, 200]);
    expect([delay(1, 0.5), delay(2, 0)]).toEqual([50, 0]);
  });

  it('waits as long as a 429 asks for, if that fits', () => {
    const tally = { failed: 0, unauthorized: 0, throttled: 1 };
    expect(nextDelay(status(429, true, 5000), tally, 'never', 15_000)).toBe(5000);
    expect(nextDelay(status(429, true, 15_000), tally, 'freely', 15_000)).toBeNull();
  });

  it('gives up when the time is up', () => {
    expect(attemptsOf({ kind: 'unanswered' }, 'freely', 0)).toBe(1);
    expect(attemptsOf({ kind: 'unsent' }, 'freely', -5)).toBe(1);
  });

  it('draws on the retry budget for outages alone', () => {
    expect([status(401), status(429)].map(drawsOnBudget)).toEqual([false, false]);
    expect(
      [status(500), { kind: 'unsent' } as const, { kind: 'unanswered' } as const].map(
        drawsOnBudget,
      ),
    ).toEqual([true, true, true]);
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
});
