/** How long the log is, and who wants to know. */
export interface SharedLog {
  readonly newest: number;
  append(count: number): void;
  onGrown(wake: () => void): void;
}

export function createSharedLog(): SharedLog {
  const waiting: (() => void)[] = [];
  let newest = 0;
  return {
    get newest() {
      return newest;
    },
    append(count) {
      newest += count;
      for (const wake of waiting) wake();
    },
    onGrown: (wake) => void waiting.push(wake),
  };
}
