import { answerText } from './answer-text.ts';
import type { Basis } from './pipeline.ts';
import { createQuestions } from './questions.ts';
import { type Held, createShortMemory } from './short-memory.ts';

/** Of bytes and keys. Whose data they are is in the key: one viewer's answers are given to that viewer alone. */
const MOST_BYTES = 64 * 1024 * 1024;
const LARGEST_BYTES = 4 * 1024 * 1024;
const OVERHEAD_BYTES = 1_024;
/** Up to here text goes out faster than bytes: in one piece with its headers. */
const SHORT = 16_384;

export interface Repeat {
  readonly body: Buffer | string;
  /** To be called each time it is given. */
  readonly told: () => void;
}

interface Remembered extends Repeat, Held {
  readonly answers: Basis['answers'];
}

/**
 * Whole answers as bytes, for exactly as long as every answer of the Partner API that they were made of is valid, and
 * whatever lets the viewer see them: they have no staleness of their own, and the same events and edits end them.
 */
export function createRememberedAnswers(now: () => number = () => performance.now()) {
  const remembered = createShortMemory<string, Remembered>({
    mostBytes: MOST_BYTES,
    bytesOf: ({ body, answers }, key) =>
      2 * (body.length + key.length) + 64 * answers.length + OVERHEAD_BYTES,
    now,
  });

  const isAskedAgain = createQuestions();

  return {
    find: (key: string): Repeat | undefined => remembered.get(key),
    /** `data` is the answer's, as JSON already. Kept from the second time on: most questions are asked once. */
    keep(
      key: string,
      data: string,
      basisOf: () => Basis | undefined,
      repeated: (basis: Basis) => () => void,
    ): void {
      if (!isAskedAgain(key)) return;
      const basis = basisOf();
      if (!basis || basis.answers.length === 0) return;
      const { answers, cached, estimated, isValid } = basis;
      const expiresAt = answers.reduce((at, each) => Math.min(at, each.expiresAt), Infinity);
      if (expiresAt <= now()) return;
      const upstream = { estimated, calls: 0, cached, coalesced: 0, retried: 0 };
      const text = answerText({ data, extensions: { upstream } });
      if (text.length > LARGEST_BYTES) return;
      const body = text.length > SHORT ? Buffer.from(text) : text;
      remembered.set(key, {
        answers,
        isValid,
        expiresAt,
        body,
        told: repeated(basis),
      });
    },
  };
}
