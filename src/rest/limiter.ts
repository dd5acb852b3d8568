import type { Allowance } from './allowance.ts';
import type { Cancel } from './cancel.ts';
import type { Clock } from './clock.ts';
import type { Lane, Rank, Waiter } from './lane.ts';

/** At most so many calls in flight, shared fairly between operations. */
export interface Limiter {
  /** A slot, if one is free and nobody waits for it. */
  takeNow(): boolean;
  /** A slot, in turn. False: cancelled while waiting, no slot is held. */
  take(lane: Lane, cancel: Cancel): Promise<boolean>;
  release(): void;
  readonly inFlight: number;
  readonly queued: number;
}

export function createLimiter(maxInFlight: number, allowance: Allowance, clock: Clock): Limiter {
  // The lanes with somebody in them, whose turn it is first. Not a Map by lane: an outgrown table of a Map
  // points to the next one, and with it keeps what past operations held alive until a full collection.
  const turns: Readonly<Record<Rank, Lane[]>> = { token: [], write: [], read: [] };
  let inFlight = 0;
  let queued = 0;
  let isPaused = false;

  // A query that fans out into hundreds of calls must not keep a small one waiting behind all of them.
  const nextOf = (lanes: Lane[]): Waiter | undefined => {
    for (let lane = lanes.shift(); lane; lane = lanes.shift()) {
      const waiter = firstWaiting(lane);
      if (lane.waiters.length > 0) lanes.push(lane);
      if (waiter) return waiter;
    }
    return undefined;
  };

  const firstWaiting = ({ waiters }: Lane): Waiter | undefined => {
    for (let waiter = waiters.shift(); waiter; waiter = waiters.shift()) {
      queued -= 1;
      if (!waiter.cancel.cancelled) return waiter;
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
    while (inFlight < maxInFlight && queued > 0 && hasRate()) {
      const next = nextOf(turns.token) ?? nextOf(turns.write) ?? nextOf(turns.read);
      if (!next) return;
      inFlight += 1;
      next.give(true);
    }
  };

  const takeNow = (): boolean => {
    if (queued > 0 || inFlight >= maxInFlight || !hasRate()) return false;
    inFlight += 1;
    return true;
  };

  return {
    takeNow,
    take(lane, cancel) {
      if (takeNow()) return Promise.resolve(true);
      return new Promise((give) => {
        if (lane.waiters.push({ cancel, give }) === 1) turns[lane.rank].push(lane);
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
