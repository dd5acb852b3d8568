import type { Call } from './client/call.ts';
import type { CallQueue, Priority } from './client/limiter.ts';

export interface UsageOptions {
  readonly maxCalls?: number;
  readonly priority?: Priority;
  /** Name, value, name, value. */
  readonly traceHeaders?: readonly string[] | undefined;
  /** For log lines. */
  readonly requestId?: string | undefined;
}

export type Usage = ReturnType<typeof createUsage>;

/** What one operation, or one delivered event, has used of the Partner API. */
export function createUsage({
  maxCalls = Number.POSITIVE_INFINITY,
  priority = 'read',
  traceHeaders = [],
  requestId,
}: UsageOptions = {}) {
  return {
    maxCalls,
    requestId,
    traceHeaders,
    calls: 0,
    cached: 0,
    coalesced: 0,
    retried: 0,
    /** The calls it began or joined. */
    joined: [] as Call[],
    /** True once the operation has ended. */
    isOver: false,
    /** Calls that wait for a slot. */
    queue: { priority, calls: [] } as CallQueue,
    /** Ends the operation early: reads are aborted, a write that was sent is not. */
    end(): void {
      this.isOver = true;
      for (const call of this.joined) call.abandon(this);
    },
  };
}
