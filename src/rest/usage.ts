import type { CacheEntry } from './cache.ts';
import type { Call } from './client/call.ts';
import type { CallQueue, Rank } from './client/limiter.ts';

export interface UsageOptions {
  readonly maxCalls?: number;
  readonly priority?: Rank;
  readonly traceHeaders?: Readonly<Record<string, string>> | undefined;
  /** For log lines. */
  readonly requestId?: string | undefined;
}

export type Usage = ReturnType<typeof createUsage>;

/** What one operation, or one delivered event, has used of the Partner API. */
export function createUsage({
  maxCalls = Number.POSITIVE_INFINITY,
  priority = 'read',
  traceHeaders,
  requestId,
}: UsageOptions = {}) {
  const queue: CallQueue = { rank: priority, calls: [] };
  return {
    maxCalls,
    requestId,
    calls: 0,
    cached: 0,
    coalesced: 0,
    retried: 0,
    /** Every cached answer that the operation's data was made of: it is valid while each of them is current. */
    entries: new Set<CacheEntry>(),
    /** The calls it waits for. */
    pending: new Set<Call>(),
    /** True once the operation has ended. */
    isOver: false,
    /** Calls that wait for a slot. */
    queue,
    /** Name, value, name, value. */
    traceHeaders: traceHeaders ? traceHeadersOf(traceHeaders) : NO_HEADERS,
    /** Ends the operation early: reads are aborted, a write that was sent is not. */
    end(): void {
      this.isOver = true;
      for (const call of this.pending) call.abandon(this);
    },
  };
}

const NO_HEADERS: readonly string[] = [];
/** An allow-list, so that no other header of a viewer is sent upstream. */
const TRACE_HEADERS = ['traceparent', 'tracestate'];

function traceHeadersOf(given: Readonly<Record<string, string>>): readonly string[] {
  return TRACE_HEADERS.flatMap((name) => {
    const value = given[name];
    // A value that no header can hold would fail the call.
    return value !== undefined && /^[\x20-\x7e]+$/.test(value) ? [name, value] : [];
  });
}
