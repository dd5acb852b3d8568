import type { Clock } from '../../clock.ts';

/** In order of priority: the token first, since every call needs it; then writes, since a person waits for them. */
const RANKS = ['token', 'write', 'read'] as const;
export type Rank = (typeof RANKS)[number];

/** A call that may have to wait for a slot. */
export interface QueuedCall {
  /** True while it waits for a slot. A call that has ended, or was sent from another queue, is skipped. */
  isWaiting: boolean;
  /** Called with a slot held, which the call releases. */
  send(): void;
}

/** The waiting calls of one operation. */
export interface CallQueue {
  readonly rank: Rank;
  readonly calls: QueuedCall[];
}

const DAY_MS = 24 * 3600_000;

/** Limits the calls in flight, fairly between operations, and keeps to the rate and the daily quota, if any. */
export function createLimiter(
  clock: Clock,
  maxInFlight: number,
  ratePerSecond?: number,
  dailyQuota?: number,
) {
  /**
   * The queues that are not empty, in the order of their turns. Arrays and not a Map by queue: a Map that changes this
   * often keeps old tables, and with them past operations, in memory until a full garbage collection.
   */
  const waiting: Readonly<Record<Rank, CallQueue[]>> = { token: [], write: [], read: [] };
  let [inFlight, queued, isDispatching] = [0, 0, false];
  // The permits of the rate limit, refilled all the time.
  let [permits, refilledAt, isPaused] = [1, clock.now(), false];
  let [day, used] = [0, 0];

  function usedToday(): number {
    const today = Math.floor(clock.wallNow() / DAY_MS);
    if (today !== day) [day, used] = [today, 0];
    return used;
  }

  const mayStart = (): boolean =>
    inFlight < maxInFlight && (ratePerSecond === undefined || hasPermit(ratePerSecond));

  /** False if the rate is used up for now. A timer then serves the queues. */
  function hasPermit(rate: number): boolean {
    if (isPaused) return false;
    const now = clock.now();
    // At most a tenth of a second's permits are saved: a whole second's would double the rate in the first second.
    permits = Math.min(Math.max(1, rate / 10), permits + ((now - refilledAt) / 1000) * rate);
    refilledAt = now;
    if (permits >= 1) return true;
    isPaused = true;
    clock.after(Math.ceil(((1 - permits) / rate) * 1000), () => {
      isPaused = false;
      serve();
    });
    return false;
  }

  function serve(): void {
    // A call that fails as it is sent releases its slot at once: loop instead of recursing.
    if (isDispatching) return;
    isDispatching = true;
    try {
      while (queued > 0 && mayStart()) {
        const next = nextCall();
        if (!next) break;
        next.isWaiting = false;
        inFlight += 1;
        next.send();
      }
    } finally {
      isDispatching = false;
    }
  }

  /** Round robin: a query with hundreds of calls must not delay a small one until all of them are done. */
  function nextCall(): QueuedCall | undefined {
    for (const rank of RANKS) {
      const queues = waiting[rank];
      for (let queue = queues.shift(); queue; queue = queues.shift()) {
        const call = queue.calls.shift();
        if (queue.calls.length > 0) queues.push(queue);
        queued -= 1;
        if (call?.isWaiting) return call;
      }
    }
    return undefined;
  }

  /** A call that several operations wait for is in the queue of each. */
  const waitingCalls = () => {
    const entries = RANKS.flatMap((rank) => waiting[rank].flatMap(({ calls }) => calls));
    return new Set(entries.filter(({ isWaiting }) => isWaiting));
  };

  return {
    /** True: the caller holds a slot, and its call may be sent now. */
    take(): boolean {
      if (queued > 0 || !mayStart()) return false;
      inFlight += 1;
      return true;
    },
    /** Queues a call that waits, once for each operation that needs it. It is sent in the turn that comes first. */
    enqueue(call: QueuedCall, queue: CallQueue): void {
      if (queue.calls.push(call) === 1) waiting[queue.rank].push(queue);
      queued += 1;
    },
    release(): void {
      inFlight -= 1;
      if (queued > 0) serve();
    },
    /** Counts a call that is sent, for the rate and the day. Returns the seconds until tomorrow if today's quota is used up. */
    spend(): number | undefined {
      if (usedToday() >= (dailyQuota ?? Number.POSITIVE_INFINITY)) {
        return Math.ceil(((day + 1) * DAY_MS - clock.wallNow()) / 1000);
      }
      used += 1;
      permits -= 1;
      return undefined;
    },
    state: () => ({
      inFlight,
      queued: waitingCalls().size,
      callsToday: usedToday(),
      quotaRemaining: dailyQuota === undefined ? undefined : dailyQuota - usedToday(),
    }),
  };
}
