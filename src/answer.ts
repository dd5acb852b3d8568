/** What the Partner API or the lineage has said, as it is held here. */
export interface Answer<T = unknown> {
  readonly value: T;
  /** On the clock of `performance.now()`, unless another was passed in. */
  readonly expiresAt: number;
  /** Turns false when an event, a mutation or a newer answer makes it stale. */
  readonly valid: boolean;
}

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
