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
  /** True once nobody waits for the operation any more. */
  isOver: boolean;
  /** `traceparent` and `tracestate`; nothing else of it goes upstream. */
  readonly traceHeaders: Readonly<Record<string, string>> | undefined;
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
  /** Ends the operation early: reads are given up, a write that was sent is not. */
  end(): void;
  /** Calls `leave` when the operation ends early; the answer takes it back. */
  onEnd(leave: () => void): () => void;
}

export interface UsageOptions {
  readonly maxCalls?: number;
  readonly priority?: 'read' | 'write';
  readonly traceHeaders?: Readonly<Record<string, string>> | undefined;
}

export function createUsage(options: UsageOptions = {}): Usage {
  // Not an AbortSignal: most operations never wait, and it is dearer than all the rest of this.
  let leaving: Set<() => void> | undefined;

  const usage: Usage = {
    maxCalls: options.maxCalls ?? Number.POSITIVE_INFINITY,
    traceHeaders: options.traceHeaders,
    calls: 0,
    cached: 0,
    coalesced: 0,
    retried: 0,
    answers: new Set(),
    repeated: [],
    lane: createLane(options.priority ?? 'read'),
    isOver: false,
    end() {
      usage.isOver = true;
      for (const leave of leaving ?? []) leave();
      leaving = undefined;
    },
    onEnd(leave) {
      const waiting = (leaving ??= new Set());
      if (usage.isOver) leave();
      else waiting.add(leave);
      return () => {
        waiting.delete(leave);
      };
    },
  };
  return usage;
}
