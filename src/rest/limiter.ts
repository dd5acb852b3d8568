import type { Allowance } from './allowance.ts';
import type { Cancel } from './cancel.ts';
import type { Clock } from './clock.ts';

/** The token first, since everything waits for it; then mutations, since a person does. */
export type Rank = 'token' | 'write' | 'read';

/** At most so many calls in flight, shared fairly between operations. */
export interface Limiter {
  /** A slot, if one is free and nobody waits for it. */
  takeNow(): boolean;
  /** A slot, in turn. False: cancelled while waiting, no slot is held. */
  take(lane: object, rank: Rank, cancel: Cancel): Promise<boolean>;
  release(): void;
  readonly inFlight: number;
  readonly queued: number;
}

interface Waiter {
  readonly cancel: Cancel;
  readonly give: (isGiven: boolean) => void;
}

/** Who waits, by operation. The Map's order is whose turn it is. */
type Queue = Map<object, Waiter[]>;

const RANKS: readonly Rank[] = ['token', 'write', 'read'];

export function createLimiter(maxInFlight: number, allowance: Allowance, clock: Clock): Limiter {
  const queues: Readonly<Record<Rank, Queue>> = {
    token: new Map(),
    write: new Map(),
    read: new Map(),
  };
  let inFlight = 0;
  let queued = 0;
  let isPaused = false;

  // A query that fans out into hundreds of calls must not keep a small one waiting behind all of them.
  const nextInTurn = (): Waiter | undefined => {
    for (const rank of RANKS) {
      const queue = queues[rank];
      for (const [lane, waiters] of queue) {
        const waiter = waiters.shift();
        const isAlone = queue.size === 1 && waiters.length > 0;
        if (!isAlone) {
          queue.delete(lane);
          if (waiters.length > 0) queue.set(lane, waiters);
        }
        queued -= 1;
        return waiter;
      }
    }
    return undefined;
  };

  /** False: the rate is used up for now, and a timer will look again. */
  const hasRate = (): boolean => {
    if (isPaused) return false;
    const waitMs = allowance.msUntilNext();
    if (waitMs === 0) return true;
    isPaused = true;
    clock.after(waitMs, () => {
      isPaused = false;
      serve();
    });
    return false;
  };

  const serve = (): void => {
    while (inFlight < maxInFlight) {
      dropCancelled();
      if (queued === 0 || !hasRate()) return;
      inFlight += 1;
      nextInTurn()?.give(true);
    }
  };

  // Those who have gone must not use up the rate. Only the next in turn are looked at.
  const dropCancelled = (): void => {
    for (const rank of RANKS) {
      for (const [lane, waiters] of queues[rank]) {
        while (waiters[0]?.cancel.cancelled) {
          waiters.shift()?.give(false);
          queued -= 1;
        }
        if (waiters.length > 0) return;
        queues[rank].delete(lane);
      }
    }
  };

  const takeNow = (): boolean => {
    if (queued > 0 || inFlight >= maxInFlight || !hasRate()) return false;
    inFlight += 1;
    return true;
  };

  return {
    takeNow,
    take(lane, rank, cancel) {
      if (takeNow()) return Promise.resolve(true);
      const queue = queues[rank];
      return new Promise((give) => {
        const waiters = queue.get(lane);
        if (waiters) waiters.push({ cancel, give });
        else queue.set(lane, [{ cancel, give }]);
        queued += 1;
        // Answered at once; its place in the queue is cleared when its turn comes.
        cancel.stop = () => give(false);
      });
    },
    release() {
      inFlight -= 1;
      serve();
    },
    get inFlight() {
      return inFlight;
    },
    get queued() {
      return queued;
    },
  };
}
