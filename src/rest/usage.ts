import { createLane } from './lane.ts';
import type { Lane } from './lane.ts';

/** One answer of the Partner API, as the cache holds it. */
export interface Answer<T = unknown> {
  readonly value: T;
  /** On the clock of `performance.now()`, unless another was passed in. */
  readonly expiresAt: number;
  /** Turns false when an event, a mutation or a newer answer makes it stale. */
  readonly valid: boolean;
}

/** What one operation has used of the Partner API. Made by the transport, written by `rest`. */
export interface Usage {
  readonly maxCalls: number;
  readonly signal: AbortSignal | undefined;
  /** `traceparent` and `tracestate`; nothing else of it goes upstream. */
  readonly traceHeaders?: Readonly<Record<string, string>>;
  calls: number;
  cached: number;
  coalesced: number;
  retried: number;
  /**
   * All that the operation's data was made of: its answer is right for as long as each of them is. Set aside for a while
   * by whoever wants to know it of a part.
   */
  answers: Set<Answer>;
  /** Of parts that were made earlier and put in as they were: among the answers as well. */
  readonly repeated: (readonly Answer[])[];
  /** Its place among those who wait for a call. */
  readonly lane: Lane;
  /** Calls `leave` when the operation ends early; the answer takes it back. */
  onAbort(leave: () => void): () => void;
}

export interface UsageOptions {
  readonly maxCalls?: number;
  readonly signal?: AbortSignal | undefined;
  readonly priority?: 'read' | 'write';
  readonly traceHeaders?: Readonly<Record<string, string>>;
}

const nothingToTakeBack = (): void => {};

export function createUsage(options: UsageOptions = {}): Usage {
  const { signal } = options;
  // One listener for hundreds of calls: removing from a signal's own list is linear in its length.
  let leaving: Set<() => void> | undefined;
  const leaveAll = (): void => {
    for (const leave of leaving ?? []) leave();
    leaving?.clear();
  };

  return {
    maxCalls: options.maxCalls ?? Number.POSITIVE_INFINITY,
    signal,
    ...(options.traceHeaders && { traceHeaders: options.traceHeaders }),
    calls: 0,
    cached: 0,
    coalesced: 0,
    retried: 0,
    answers: new Set(),
    repeated: [],
    lane: createLane(options.priority ?? 'read'),
    onAbort(leave) {
      if (!signal) return nothingToTakeBack;
      if (signal.aborted) {
        leave();
        return nothingToTakeBack;
      }
      if (!leaving) {
        leaving = new Set();
        signal.addEventListener('abort', leaveAll, { once: true });
      }
      const waiting = leaving;
      waiting.add(leave);
      return () => {
        waiting.delete(leave);
      };
    },
  };
}
