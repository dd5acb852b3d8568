import { systemClock } from '../../../src/clock.ts';
import { type Gateway, type GraphQLAnswer, tokenFor } from '../gateway.ts';

export type Ask = (document: string, variables?: object) => Promise<GraphQLAnswer>;

/** Queries as a viewer with these grants. */
export async function viewerWith(
  gateway: Gateway,
  grants: readonly string[],
  subject = 'tester',
): Promise<Ask> {
  // Longer than any test advances its clock.
  const token = await tokenFor(grants, { subject, expiresInSeconds: 315_360_000 });
  const authorization = `Bearer ${token}`;
  return (document, variables) => gateway.query(document, variables, { authorization });
}

/** The system clock, which a test can advance so that the gateway's caches expire. */
export function createAdvancingClock() {
  return advanceable(systemClock.now, systemClock.wallNow);
}

/** Advances only when a test says so: nothing expires by itself, and costs can be compared. */
export function createManualClock() {
  const [now, wallNow] = [systemClock.now(), systemClock.wallNow()];
  return advanceable(
    () => now,
    () => wallNow,
  );
}

function advanceable(now: () => number, wallNow: () => number) {
  let aheadMs = 0;
  return {
    ...systemClock,
    now: () => now() + aheadMs,
    wallNow: () => wallNow() + aheadMs,
    advance(ms: number): void {
      aheadMs += ms;
    },
  };
}

export const MINUTE_PAST = 61_000;
