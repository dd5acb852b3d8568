/**
 * Whether anybody still wants a call. An AbortController does the same at ten times the cost, and a call has
 * only ever one stage at a time that could be stopped.
 */
export interface Cancel {
  cancelled: boolean;
  /** Set by the stage that holds something to let go of. */
  stop: (() => void) | undefined;
}

export function createCancel(): Cancel {
  return { cancelled: false, stop: undefined };
}

export function cancel(it: Cancel): void {
  it.cancelled = true;
  it.stop?.();
}
