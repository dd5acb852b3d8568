import type { Answer } from './usage.ts';

/** How many answers have turned so far. */
let lost = 0;

export function invalidate(answer: { valid: boolean }): void {
  answer.valid = false;
  lost += 1;
}

/** Whether all of them are still valid: looked at anew only where any answer at all has turned meanwhile. */
export function watched(answers: readonly Answer[]): () => boolean {
  let lookedAt = -1;
  let isValid = true;
  return () => {
    if (isValid && lookedAt !== lost) {
      lookedAt = lost;
      isValid = answers.every(({ valid }) => valid);
    }
    return isValid;
  };
}
