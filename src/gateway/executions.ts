import { LRUCache } from 'lru-cache';

import type { Payload } from './payload.ts';

/** Those who resume together replay the same events: what was executed a moment ago is not executed again. */
const REMEMBERED_MS = 5_000;
const REMEMBERED = 1_000;
const REMEMBERED_BYTES = 8_388_608;

/** Undefined where the viewer may not hear of the event. */
export type Executed = Promise<Payload | undefined>;

/** Whose data: each key names the reach that the payload was executed for. */
export function createExecutions() {
  const remembered = new LRUCache<string, Executed>({
    max: REMEMBERED,
    maxSize: REMEMBERED_BYTES,
    ttl: REMEMBERED_MS,
  });

  return (key: string, execute: () => Executed): Executed => {
    const known = remembered.get(key);
    if (known) return known;
    const made = execute();
    remembered.set(key, made, { size: 1 });
    const isCurrent = (): boolean => remembered.peek(key) === made;
    // Whoever waits for it hears of a failure; it must not be the last answer, nor go unhandled meanwhile.
    made.then(
      (payload) =>
        void (
          isCurrent() && remembered.set(key, made, { size: 1 + (payload?.messageTail.length ?? 0) })
        ),
      () => void (isCurrent() && remembered.delete(key)),
    );
    return made;
  };
}
