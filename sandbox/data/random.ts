/** A 32-bit hash: the same arguments always give the same number. */
export function hash(seed: number, a: number, b = 0): number {
  let h = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(a + 0x7f4a7c15, 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d) ^ Math.imul(b + 0x165667b1, 0x27d4eb2f);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

export type Random = ReturnType<typeof createRandom>;

/** A pseudo-random generator (mulberry32). The sequence depends only on the seed. */
export function createRandom(seed: number) {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
  return {
    below: (limit: number) => next() % limit,
    pick: <T extends {}>(list: readonly T[]) => itemAt(list, next()),
    chance: (probability: number) => next() < probability * 0x1_0000_0000,
  };
}

/** The item at `index`, modulo the length. */
export function itemAt<T extends {}>(list: readonly T[], index: number): T {
  const item = list[index % list.length];
  if (item === undefined) throw new Error('the list must not be empty');
  return item;
}
