/** Collects items, and lets tests wait for a number of them. */
export interface Tally<T> {
  readonly all: readonly T[];
  add(item: T): void;
  reaches(count: number): Promise<void>;
}

export function createTally<T>(): Tally<T> {
  const all: T[] = [];
  let waiting: { readonly count: number; readonly wake: () => void }[] = [];
  return {
    all,
    add(item) {
      all.push(item);
      const due = waiting.filter(({ count }) => count <= all.length);
      waiting = waiting.filter(({ count }) => count > all.length);
      for (const { wake } of due) wake();
    },
    reaches: (count) =>
      all.length >= count
        ? Promise.resolve()
        : new Promise((wake) => {
            waiting.push({ count, wake });
          }),
  };
}
