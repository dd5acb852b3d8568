import type { CacheEntry } from './cache.ts';
import { createCallQueue } from './client/limiter.ts';
import type { CallQueue } from './client/limiter.ts';

export interface UsageOptions {
  readonly maxCalls?: number;
  readonly priority?: 'read' | 'write';
  readonly traceHeaders?: Readonly<Record<string, string>> | undefined;
  /** For log lines. */
  readonly requestId?: string | undefined;
}

/** A call that an operation waits for. */
export interface Abandonable {
  abandon(usage: Usage): void;
}

/** What one operation, or one delivered event, has used of the Partner API. */
export class Usage {
  readonly maxCalls: number;
  calls = 0;
  cached = 0;
  coalesced = 0;
  retried = 0;
  /** Every cached answer that the operation's data was made of: it is right for as long as each of them is current. */
  readonly entries = new Set<CacheEntry>();
  /** True once nobody waits for the operation any more. */
  isOver = false;
  /** Its calls that wait for a slot. */
  readonly queue: CallQueue;
  /** Name, value, name, value. */
  readonly traceHeaders: readonly string[];
  readonly requestId: string | undefined;
  private pending: Set<Abandonable> | undefined;

  constructor({ maxCalls, priority = 'read', traceHeaders, requestId }: UsageOptions) {
    this.requestId = requestId;
    this.maxCalls = maxCalls ?? Number.POSITIVE_INFINITY;
    this.queue = createCallQueue(priority);
    this.traceHeaders = traceHeaders ? traceHeadersOf(traceHeaders) : NO_HEADERS;
  }

  /** Ends the operation early: reads are given up, a write that was sent is not. */
  end(): void {
    this.isOver = true;
    for (const call of this.pending ?? []) call.abandon(this);
  }

  /** `end` abandons it, unless it is done by then. */
  begins(call: Abandonable): void {
    (this.pending ??= new Set()).add(call);
  }

  ends(call: Abandonable): void {
    this.pending?.delete(call);
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
