import { LRUCache } from 'lru-cache';

import { inBackground } from './background.ts';
import type { KeyStore } from './store.ts';

const REPEAT_EVERY_MS = 1_000;
/** A value may contain an answer of the Partner API. */
const MAX_CHARACTERS = 16_000_000;
const MAX_CLAIMS = 10_000;
/** Two minutes of a store that answers: TCP may deliver a claim that has timed out long after the server is back. */
const CLAIM_ROUNDS = 120;

/** Writes that the store did not confirm, repeated in the background until it does. */
export function createLateWrites(keys: KeyStore, keptMs: number) {
  const values = new LRUCache<string, string>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (value, key) => value.length + key.length,
    ttl: keptMs,
  });
  /** By value, since a key may be claimed several times. */
  const claims = new LRUCache<string, { readonly key: string; rounds: number }>({
    max: MAX_CLAIMS,
  });

  async function repeat(): Promise<void> {
    const late = Object.fromEntries(values.entries());
    if (values.size > 0) await keys.put(late, keptMs);
    for (const key of Object.keys(late)) values.delete(key);
    const dead = [...claims.entries()];
    for (const [value, claim] of dead) {
      const isDeleted = await keys.delete(claim.key, value);
      claim.rounds += 1;
      if (isDeleted || claim.rounds >= CLAIM_ROUNDS) claims.delete(value);
    }
  }
  const repeating = inBackground(REPEAT_EVERY_MS, repeat, () => {});

  return {
    /** Never rejects. */
    async put(key: string, value: string): Promise<void> {
      await keys.put({ [key]: value }, keptMs).catch(() => values.set(key, value));
    },
    /** The value that is still to be written. */
    valueOf: (key: string): string | undefined => values.get(key),
    /** For a claim under which nothing had an effect. */
    deleteClaim: (key: string, value: string) => void claims.set(value, { key, rounds: 0 }),
    isDeleted: (value: string): boolean => claims.has(value),
    async [Symbol.asyncDispose](): Promise<void> {
      repeating[Symbol.dispose]();
      await repeat().catch(() => undefined);
    },
  };
}
