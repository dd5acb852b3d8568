import { LRUCache } from 'lru-cache';

import { answerText } from './answer-text.ts';
import type { Basis } from './pipeline.ts';

/** Of bytes and keys. Whose data they are is in the key: one viewer's answers are given to that viewer alone. */
const MOST_BYTES = 64 * 1024 * 1024;
const LARGEST_BYTES = 4 * 1024 * 1024;
const OVERHEAD_BYTES = 1_024;
/** Up to here text goes out faster than bytes: in one piece with its headers. */
const SHORT = 16_384;

interface Remembered {
  readonly basis: Basis;
  readonly text: string;
  readonly expiresAt: number;
  /** Made when it is asked for a second time: most answers never are. Short ones stay text. */
  body: Buffer | string | undefined;
}

export interface Repeat {
  readonly basis: Basis;
  readonly body: Buffer | string;
}

export type RememberedAnswers = ReturnType<typeof createRememberedAnswers>;

/**
 * Whole answers as bytes, for exactly as long as every answer of the Partner API that they were made of is valid: they
 * have no staleness of their own, and the same events and edits end them.
 */
export function createRememberedAnswers(now: () => number = () => performance.now()) {
  const remembered = new LRUCache<string, Remembered>({
    maxSize: MOST_BYTES,
    maxEntrySize: LARGEST_BYTES,
    sizeCalculation: ({ text }, key) => 2 * (text.length + key.length) + OVERHEAD_BYTES,
  });

  return {
    find(key: string): Repeat | undefined {
      const known = remembered.get(key);
      if (!known) return undefined;
      if (known.expiresAt <= now() || !isValid(known.basis)) {
        remembered.delete(key);
        return undefined;
      }
      known.body ??= known.text.length > SHORT ? Buffer.from(known.text) : known.text;
      return { basis: known.basis, body: known.body };
    },
    /** `data` is the answer's, as JSON already. */
    keep(key: string, data: string, basis: Basis): void {
      let expiresAt = Number.POSITIVE_INFINITY;
      for (const answer of basis.answers) expiresAt = Math.min(expiresAt, answer.expiresAt);
      if (expiresAt <= now()) return;
      const { estimated, answers } = basis;
      const upstream = { estimated, calls: 0, cached: answers.size, coalesced: 0, retried: 0 };
      const text = answerText({ data, extensions: { upstream } });
      remembered.set(key, { basis, text, expiresAt, body: undefined });
    },
  };
}

function isValid({ answers }: Basis): boolean {
  for (const answer of answers) if (!answer.valid) return false;
  return true;
}
