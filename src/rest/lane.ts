import type { Cancel } from './cancel.ts';

/** The token first, since everything waits for it; then mutations, since a person does. */
export type Rank = 'token' | 'write' | 'read';

/** The calls of one operation that wait for their turn. */
export interface Lane {
  readonly rank: Rank;
  readonly waiters: Waiter[];
}

export interface Waiter {
  readonly cancel: Cancel;
  /** False: it has gone, and holds no slot. */
  readonly give: (isGiven: boolean) => void;
}

export function createLane(rank: Rank): Lane {
  return { rank, waiters: [] };
}
