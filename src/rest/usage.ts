import type { Answer } from '../answer.ts';
import { createLane } from './lane.ts';
import type { Lane } from './lane.ts';

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
  /** All that the operation's data was made of: its answer is right for as long as each of them is. */
  readonly answers: Set<Answer>;
  /** What else it rests on, by which the viewer may see it: what the lineage said, and for how long that proves something. */
  readonly proofs: Set<Answer>;
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

/** A record, and functions over it, without an AbortSignal: there is one for each operation, and most never wait. */
interface OperationUsage extends Usage {
  leaving: Set<() => void> | undefined;
}

export function createUsage(options: UsageOptions = {}): Usage {
  const usage: OperationUsage = {
    maxCalls: options.maxCalls ?? Number.POSITIVE_INFINITY,
    traceHeaders: options.traceHeaders,
    calls: 0,
    cached: 0,
    coalesced: 0,
    retried: 0,
    answers: new Set(),
    proofs: new Set(),
    lane: createLane(options.priority ?? 'read'),
    isOver: false,
    leaving: undefined,
    end,
    onEnd,
  };
  return usage;
}

function end(this: OperationUsage): void {
  this.isOver = true;
  for (const leave of this.leaving ?? []) leave();
  this.leaving = undefined;
}

function onEnd(this: OperationUsage, leave: () => void): () => void {
  const waiting = (this.leaving ??= new Set());
  if (this.isOver) leave();
  else waiting.add(leave);
  return () => {
    waiting.delete(leave);
  };
}
