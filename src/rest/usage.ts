import type { CacheEntry } from './cache.ts';
import type { CallQueue, Rank } from './client/limiter.ts';

export interface UsageOptions {
  readonly maxCalls?: number;
  readonly priority?: Rank;
  readonly traceHeaders?: Readonly<Record<string, string>> | undefined;
  /** For log lines. */
  readonly requestId?: string | undefined;
}

/** What one operation, or one delivered event, has used of the Partner API. */
export class Usage {
  readonly maxCalls: number;
  calls = 0;
  cached = 0;
  coalesced = 0;
  retried = 0;
  /** Every cached answer that the operation's data was made of: it is valid while each of them is current. */
  readonly entries = new Set<CacheEntry>();
  /** The calls it waits for. */
  readonly pending = new Set<{ abandon(usage: Usage): void }>();
  /** True once nobody waits for the operation any more. */
  isOver = false;
  /** Its calls that wait for a slot. */
  readonly queue: CallQueue;
  /** Name, value, name, value. */
  readonly traceHeaders: readonly string[];
  readonly requestId: string | undefined;

  constructor({ maxCalls, priority = 'read', traceHeaders, requestId }: UsageOptions) {
    this.requestId = requestId;
    this.maxCalls = maxCalls ?? Number.POSITIVE_INFINITY;
    this.queue = { rank: priority, calls: [] };
    this.traceHeaders = traceHeaders ? traceHeadersOf(traceHeaders) : NO_HEADERS;
  }

  /** Ends the operation early: reads are aborted, a write that was sent is not. */
  end(): void {
    this.isOver = true;
    for (const call of this.pending) call.abandon(this);
  }
}

export function createUsage(options: UsageOptions = {}): Usage {
  return new Usage(options);
}

const NO_HEADERS: readonly string[] = [];
/** By name, so that nothing a viewer sent can ever go upstream. */
const TRACE_HEADERS = ['traceparent', 'tracestate'];

function traceHeadersOf(given: Readonly<Record<string, string>>): readonly string[] {
  return TRACE_HEADERS.flatMap((name) => {
    const value = given[name];
    // A value that no header can hold would fail the call.
    return value !== undefined && /^[\x20-\x7e]+$/.test(value) ? [name, value] : [];
  });
}
