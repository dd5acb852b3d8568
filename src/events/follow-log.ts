import type { EventLog, Position, StoredEvent } from '../store/event-log.ts';
import { pause, pauseMs } from './persistence.ts';

export interface Follower {
  readonly log: Pick<EventLog, 'follow'>;
  /** Where to go on from: what has been delivered so far. */
  readonly position: () => Position;
  readonly deliver: (batch: readonly StoredEvent[]) => Promise<void>;
  /** Before each new attempt: the log may have been lost, or trimmed, while it was out of reach. */
  readonly recheck: () => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

/** Follows the log for as long as the process lives, whatever befalls the log. */
export function followLog(follower: Follower): AsyncDisposable {
  const closing = new AbortController();
  const { signal } = closing;
  let batches: AsyncIterableIterator<readonly StoredEvent[]> | undefined;
  let failures = 0;

  async function followOnce(): Promise<void> {
    if (failures > 0) await follower.recheck();
    if (signal.aborted) return;
    batches = follower.log.follow(follower.position());
    for await (const batch of batches) {
      if (signal.aborted) return;
      await follower.deliver(batch);
      failures = 0;
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await followOnce();
      } catch (error) {
        if (!signal.aborted) follower.onFailure(error);
      }
      failures += 1;
      await pause(pauseMs(failures), signal);
    }
  }

  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      closing.abort();
      await batches?.return?.();
      await running;
    },
  };
}
