import { systemClock } from '../../../src/clock.ts';
import { type Gateway, type GraphQLAnswer, tokenFor } from '../gateway.ts';

export type Ask = (document: string, variables?: object) => Promise<GraphQLAnswer>;

/** Queries as a viewer with these grants. */
export async function viewerWith(
  gateway: Gateway,
  grants: readonly string[],
  subject = 'tester',
): Promise<Ask> {
  // Longer than any clock is turned here.
  const token = await tokenFor(grants, { subject, expiresInSeconds: 315_360_000 });
  const authorization = `Bearer ${token}`;
  return (document, variables) => gateway.query(document, variables, { authorization });
}

/** Goes on by itself, and further when it is turned: the gateway's caches with it. */
export function createTurnableClock() {
  return turnable(systemClock.now, systemClock.wallNow);
}

/** Goes on only when it is turned: what is cached stays so, and costs can be compared. */
export function createStillClock() {
  const [now, wallNow] = [systemClock.now(), systemClock.wallNow()];
  return turnable(
    () => now,
    () => wallNow,
  );
}

function turnable(now: () => number, wallNow: () => number) {
  let aheadMs = 0;
  return {
    ...systemClock,
    now: () => now() + aheadMs,
    wallNow: () => wallNow() + aheadMs,
    turn(ms: number): void {
      aheadMs += ms;
    },
  };
}

export const MINUTE_PAST = 61_000;

/** The codes of an answer's errors, each with its path. */
export const failures = ({ errors = [] }: GraphQLAnswer): string[] =>
  errors.map(({ path, extensions }) => `${path?.join('.') ?? ''}: ${extensions.code}`);
