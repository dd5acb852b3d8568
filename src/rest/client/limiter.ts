import type { Clock } from '../clock.ts';

/** The token goes first, since everything waits for it; then mutations, since a person does. */
export type Rank = 'token' | 'write' | 'read';

/** A call that may have to wait for a slot. */
export interface QueuedCall {
  readonly queue: CallQueue;
  /** True once nobody wants it any more: it is passed over. */
  readonly isOver: boolean;
  /** Called with a slot held, which the call releases. */
  send(): void;
}

/** The waiting calls of one operation. */
export interface CallQueue {
  readonly rank: Rank;
  readonly calls: QueuedCall[];
}

export function createCallQueue(rank: Rank): CallQueue {
  return { rank, calls: [] };
}

export interface LimiterOptions {
  readonly maxInFlight: number;
  readonly ratePerSecond?: number | undefined;
  readonly dailyQuota?: number | undefined;
}

const DAY_MS = 24 * 3600_000;

export type Limiter = ReturnType<typeof createLimiter>;

/** At most so many calls in flight, shared fairly between operations; and the partner's rate and daily quota, if known. */
export function createLimiter(options: LimiterOptions, clock: Clock) {
  const { maxInFlight, ratePerSecond, dailyQuota } = options;
  // The queues that are not empty, in turn. Arrays, not a Map by queue: the outgrown tables of a Map that changes this
  // often keep past operations alive until a full garbage collection.
  const queues: Readonly<Record<Rank, CallQueue[]>> = { token: [], write: [], read: [] };
  let inFlight = 0;
  let queued = 0;
  let isServing = false;

  // A token bucket. A whole second's worth at once would double the rate in the first second.
  const capacity = ratePerSecond === undefined ? 0 : Math.max(1, ratePerSecond / 10);
  let permits = capacity;
  let refilledAt = clock.now();
  let isPaused = false;

  let day = 0;
  let usedToday = 0;

  /** False: the rate is used up for now, and a timer will serve the queues. */
  function takePermit(rate: number): boolean {
    if (isPaused) return false;
    const now = clock.now();
    permits = Math.min(capacity, permits + ((now - refilledAt) / 1000) * rate);
    refilledAt = now;
    if (permits >= 1) {
      permits -= 1;
      return true;
    }
    isPaused = true;
    clock.after(Math.ceil(((1 - permits) / rate) * 1000), () => {
      isPaused = false;
      serve();
    });
    return false;
  }

  const mayStart = (): boolean =>
    inFlight < maxInFlight && (ratePerSecond === undefined || takePermit(ratePerSecond));

  // Round robin: a query that fans out into hundreds of calls must not keep a small one waiting behind all of them.
  function nextOf(waiting: CallQueue[]): QueuedCall | undefined {
    for (let queue = waiting.shift(); queue; queue = waiting.shift()) {
      const call = firstWanted(queue.calls);
      if (queue.calls.length > 0) waiting.push(queue);
      if (call) return call;
    }
    return undefined;
  }

  function firstWanted(calls: QueuedCall[]): QueuedCall | undefined {
    for (let call = calls.shift(); call; call = calls.shift()) {
      queued -= 1;
      if (!call.isOver) return call;
    }
    return undefined;
  }

  function serve(): void {
    // A call that fails as it is sent releases its slot at once: the loop goes on, rather than the stack.
    if (isServing) return;
    isServing = true;
    try {
      while (queued > 0 && mayStart()) {
        const next = nextOf(queues.token) ?? nextOf(queues.write) ?? nextOf(queues.read);
        if (!next) break;
        inFlight += 1;
        next.send();
      }
    } finally {
      isServing = false;
    }
  }

  function turnDay(): void {
    const today = Math.floor(clock.wallNow() / DAY_MS);
    if (today === day) return;
    day = today;
    usedToday = 0;
  }

  return {
    /** True: the call holds a slot and may be sent now. False: it is queued, and `send` is called when its turn comes. */
    take(call: QueuedCall): boolean {
      if (queued === 0 && mayStart()) {
        inFlight += 1;
        return true;
      }
      const { calls, rank } = call.queue;
      if (calls.push(call) === 1) queues[rank].push(call.queue);
      queued += 1;
      return false;
    },
    release(): void {
      inFlight -= 1;
      if (queued > 0) serve();
    },
    /** Counts a call against the day; the seconds until tomorrow if today's quota is used up. */
    spend(): number | undefined {
      turnDay();
      if (dailyQuota !== undefined && usedToday >= dailyQuota) {
        return Math.ceil(((day + 1) * DAY_MS - clock.wallNow()) / 1000);
      }
      usedToday += 1;
      return undefined;
    },
    get inFlight() {
      return inFlight;
    },
    get queued() {
      return queued;
    },
    get usedToday() {
      turnDay();
      return usedToday;
    },
  };
}
