/** A keyed, well-spread 32-bit number: the same parts always give the same one. */
export function hash(seed: number, a: number, b = 0): number {
  let h = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(a + 0x7f4a7c15, 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d) ^ Math.imul(b + 0x165667b1, 0x27d4eb2f);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Draws numbers and members of lists, in an order that its seed alone decides. */
export interface Draws {
  readonly below: (limit: number) => number;
  readonly pick: <T extends {}>(list: readonly T[]) => T;
  readonly chance: (probability: number) => boolean;
}

export function createDraws(seed: number): Draws {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
  return {
    below: (limit) => next() % limit,
    pick: (list) => nth(list, next()),
    chance: (probability) => next() < probability * 0x1_0000_0000,
  };
}

/** The member at `index`, counted round: every index has one. */
export function nth<T extends {}>(list: readonly T[], index: number): T {
  const member = list[index % list.length];
  if (member === undefined) throw new Error('wanted a list with members, but it was empty');
  return member;
}
