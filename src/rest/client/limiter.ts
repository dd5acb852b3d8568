import type { Clock } from '../../clock.ts';

/** The token goes first, since everything waits for it; then mutations, since a person does. */
export type Rank = 'token' | 'write' | 'read';

/** A call that may have to wait for a slot. */
export interface QueuedCall {
  readonly queue: CallQueue;
  /** True once nobody waits for it any more: it is skipped. */
  readonly isOver: boolean;
  /** Called with a slot held, which the call releases. */
  send(): void;
}

/** The waiting calls of one operation. */
export interface CallQueue {
  readonly rank: Rank;
  readonly calls: QueuedCall[];
}

const DAY_MS = 24 * 3600_000;

/** Bounds the calls in flight, fairly between operations; and keeps to the partner's rate and daily quota, if known. */
export class Limiter {
  inFlight = 0;
  queued = 0;
  private readonly clock: Clock;
  private readonly maxInFlight: number;
  private readonly ratePerSecond: number | undefined;
  private readonly dailyQuota: number | undefined;
  /**
   * The queues that are not empty, by rank, in turn. Arrays, not a Map by queue: the outgrown tables of a Map that
   * changes this often keep past operations alive until a full garbage collection.
   */
  private readonly waiting: Readonly<Record<Rank, CallQueue[]>> = {
    token: [],
    write: [],
    read: [],
  };
  private isServing = false;
  /** Of the token bucket. */
  private permits = 1;
  private refilledAt: number;
  private isPaused = false;
  private day = 0;
  private used = 0;

  constructor(clock: Clock, maxInFlight: number, ratePerSecond?: number, dailyQuota?: number) {
    this.clock = clock;
    this.maxInFlight = maxInFlight;
    this.ratePerSecond = ratePerSecond;
    this.dailyQuota = dailyQuota;
    this.refilledAt = clock.now();
  }

  /** True: the call holds a slot and may be sent now. False: it is queued, and `send` is called when its turn comes. */
  take(call: QueuedCall): boolean {
    if (this.queued === 0 && this.mayStart()) {
      this.inFlight += 1;
      return true;
    }
    const { calls, rank } = call.queue;
    if (calls.push(call) === 1) this.waiting[rank].push(call.queue);
    this.queued += 1;
    return false;
  }

  release(): void {
    this.inFlight -= 1;
    if (this.queued > 0) this.serve();
  }

  /** Counts a call against the day. Returns the seconds until tomorrow if today's quota is used up. */
  spend(): number | undefined {
    const { dailyQuota } = this;
    if (dailyQuota !== undefined && this.usedToday >= dailyQuota) {
      return Math.ceil(((this.day + 1) * DAY_MS - this.clock.wallNow()) / 1000);
    }
    this.used = this.usedToday + 1;
    return undefined;
  }

  get usedToday(): number {
    const today = Math.floor(this.clock.wallNow() / DAY_MS);
    if (today !== this.day) this.used = 0;
    this.day = today;
    return this.used;
  }

  private mayStart(): boolean {
    const { maxInFlight, ratePerSecond } = this;
    if (this.inFlight >= maxInFlight) return false;
    return ratePerSecond === undefined || this.takePermit(ratePerSecond);
  }

  /** False: the rate is used up for now, and a timer will serve the queues. */
  private takePermit(rate: number): boolean {
    if (this.isPaused) return false;
    const now = this.clock.now();
    // A bucket of a whole second would double the rate in the first second.
    const capacity = Math.max(1, rate / 10);
    this.permits = Math.min(capacity, this.permits + ((now - this.refilledAt) / 1000) * rate);
    this.refilledAt = now;
    if (this.permits >= 1) {
      this.permits -= 1;
      return true;
    }
    this.isPaused = true;
    this.clock.after(Math.ceil(((1 - this.permits) / rate) * 1000), () => {
      this.isPaused = false;
      this.serve();
    });
    return false;
  }

  private serve(): void {
    // A call that fails as it is sent releases its slot at once: loop instead of recursing.
    if (this.isServing) return;
    this.isServing = true;
    try {
      while (this.queued > 0 && this.mayStart()) {
        const { token, write, read } = this.waiting;
        const next = this.nextOf(token) ?? this.nextOf(write) ?? this.nextOf(read);
        if (!next) break;
        this.inFlight += 1;
        next.send();
      }
    } finally {
      this.isServing = false;
    }
  }

  /** Round robin: a query with hundreds of calls must not delay a small one until all of them are done. */
  private nextOf(queues: CallQueue[]): QueuedCall | undefined {
    for (let queue = queues.shift(); queue; queue = queues.shift()) {
      const call = queue.calls.shift();
      if (queue.calls.length > 0) queues.push(queue);
      this.queued -= 1;
      if (call && !call.isOver) return call;
    }
    return undefined;
  }
}
