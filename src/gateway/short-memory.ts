/** Something that holds for a while: until its time is over, or until something it was made of is no longer right. */
export interface Held {
  readonly expiresAt: number;
  readonly isValid: () => boolean;
}

export interface ShortMemory<Key, Value> {
  /** Only what still holds. */
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
}

export interface ShortMemoryParts<Key, Value> {
  readonly mostBytes: number;
  readonly bytesOf: (value: Value, key: Key) => number;
  readonly now: () => number;
}

const SWEEP_EVERY_MS = 1_000;

/**
 * What is remembered for moments. What no longer holds goes soon, since it keeps alive all that it was made of; past its
 * bound the oldest goes.
 */
export function createShortMemory<Key, Value extends Held>({
  mostBytes,
  bytesOf,
  now,
}: ShortMemoryParts<Key, Value>): ShortMemory<Key, Value> {
  const held = new Map<Key, Value>();
  let bytes = 0;
  let sweeping = false;

  const holds = (value: Value): boolean => value.expiresAt > now() && value.isValid();

  function remove(key: Key, value: Value): void {
    held.delete(key);
    bytes -= bytesOf(value, key);
  }

  function sweepSoon(): void {
    if (sweeping || held.size === 0) return;
    sweeping = true;
    setTimeout(() => {
      sweeping = false;
      for (const [key, value] of held) if (!holds(value)) remove(key, value);
      sweepSoon();
    }, SWEEP_EVERY_MS).unref();
  }

  return {
    get(key) {
      const value = held.get(key);
      if (value === undefined || holds(value)) return value;
      remove(key, value);
      return undefined;
    },
    set(key, value) {
      const before = held.get(key);
      if (before) remove(key, before);
      held.set(key, value);
      bytes += bytesOf(value, key);
      for (const [oldest, oldestValue] of held) {
        if (bytes <= mostBytes) break;
        remove(oldest, oldestValue);
      }
      sweepSoon();
    },
  };
}
