/** Chance that can be had again: the same seed gives the same run. */
export interface Random {
  /** From 0 up to, not including, 1. */
  uniform(): number;
  exponential(mean: number): number;
  /** Log-normal, with a standard deviation of `variation` × the mean: most near it, a few far above. */
  lognormal(mean: number, variation: number): number;
}

/** Mulberry32: small, fast, and even enough for queues. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function uniform(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const exponential = (mean: number): number => -mean * Math.log(1 - uniform());
  function normal(): number {
    return Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  }
  return {
    uniform,
    exponential,
    lognormal(mean, variation) {
      const variance = Math.log(1 + variation ** 2);
      return mean * Math.exp(Math.sqrt(variance) * normal() - variance / 2);
    },
  };
}
