import type { Clock } from '../../clock.ts';
import type { PartnerOptions } from '../partner.ts';
import type { Call } from './call.ts';

/** The token comes first, since every call needs it; then writes, since a person waits for them. */
export type Priority = 'token' | 'write' | 'read';

/** The calls of one operation that wait for a slot. `send` is called with a slot held, which the call releases. */
export type CallQueue = Readonly<{ priority: Priority; calls: Pick<Call, 'isQueued' | 'send'>[] }>;

const DAY_MS = 24 * 3_600_000;

/** Limits the calls in flight, fairly between operations, and keeps to the rate and the daily quota, if any. */
export function createLimiter(clock: Clock, maxInFlight: number, options: PartnerOptions = {}) {
  const { ratePerSecond, dailyQuota } = options;
  /**
   * The queues that are not empty, in the order of their turns. Arrays and not a Map by queue: a Map that changes this
   * often keeps old tables, and with them past operations, in memory until a full garbage collection.
   */
  const waiting: Readonly<Record<Priority, CallQueue[]>> = { token: [], write: [], read: [] };
  let inFlight = 0;
  let isSending = false;
  // Permits of the rate limit, a token bucket that is refilled continuously.
  let permits = 1;
  let refilledAt = clock.now();
  let isPaused = false;
  let day = 0;
  let used = 0;

  function usedToday(): number {
    const today = Math.floor(clock.wallNow() / DAY_MS);
    // A clock that is set back begins no new day.
    if (today > day) used = 0;
    day = today;
    return used;
  }

  const hasQueued = (): boolean =>
    waiting.token.length > 0 || waiting.write.length > 0 || waiting.read.length > 0;

  const mayStart = (): boolean =>
    inFlight < maxInFlight && (ratePerSecond === undefined || hasPermit(ratePerSecond));

  /** False if the rate is used up for now. A timer then sends what is queued. */
  function hasPermit(rate: number): boolean {
    if (isPaused) return false;
    const now = clock.now();
    // At most a tenth of a second's permits are saved: a whole second's would double the rate in the first second.
    permits = Math.min(Math.max(1, rate / 10), permits + ((now - refilledAt) / 1_000) * rate);
    refilledAt = now;
    if (permits >= 1) return true;
    isPaused = true;
    clock.after(Math.ceil(((1 - permits) / rate) * 1_000), () => {
      isPaused = false;
      sendQueued();
    });
    return false;
  }

  /** Round robin: a query with hundreds of calls must not delay a small one until all of them are done. */
  function sendQueued(): void {
    // A call that fails as it is sent releases its slot at once: loop instead of recursing.
    if (isSending) return;
    isSending = true;
    try {
      while (hasQueued() && mayStart()) {
        const queue = (waiting.token.shift() ?? waiting.write.shift() ?? waiting.read.shift())!;
        const call = queue.calls.shift()!;
        if (queue.calls.length > 0) waiting[queue.priority].push(queue);
        // It may have ended, or was sent from another queue.
        if (!call.isQueued) continue;
        call.isQueued = false;
        inFlight += 1;
        call.send({ hasSlot: true });
      }
    } finally {
      isSending = false;
    }
  }

  return {
    /** Takes a slot if a call may be sent now. The caller releases it. */
    take(): boolean {
      if (hasQueued() || !mayStart()) return false;
      inFlight += 1;
      return true;
    },
    /** Called once for each operation that waits for the call, which is sent at the first of their turns. */
    enqueue(call: CallQueue['calls'][number], queue: CallQueue): void {
      if (queue.calls.push(call) === 1) waiting[queue.priority].push(queue);
    },
    release(): void {
      inFlight -= 1;
      sendQueued();
    },
    /** Counts a call that is sent, for the rate and the day. Returns the seconds until tomorrow if the quota is used up. */
    spend(isExempt = false): number | undefined {
      if (usedToday() >= (dailyQuota ?? Number.POSITIVE_INFINITY) && !isExempt)
        return Math.ceil(((day + 1) * DAY_MS - clock.wallNow()) / 1_000);
      used += 1;
      permits -= 1;
      return undefined;
    },
    state() {
      const queues = [...waiting.token, ...waiting.write, ...waiting.read];
      const calls = queues.flatMap((queue) => queue.calls.filter(({ isQueued }) => isQueued));
      return {
        inFlight,
        queued: new Set(calls).size,
        callsToday: usedToday(),
        quotaRemaining: dailyQuota && Math.max(0, dailyQuota - usedToday()),
      };
    },
  };
}
