/** Durations, and how long all but one in a hundred took. */
export interface Samples {
  readonly count: number;
  readonly mean: number;
  add(value: number): void;
  /** 0.99: what 99 of 100 stay within. */
  quantile(share: number): number;
}

export function createSamples(): Samples {
  const values: number[] = [];
  let sum = 0;
  return {
    get count() {
      return values.length;
    },
    get mean() {
      return values.length === 0 ? 0 : sum / values.length;
    },
    add(value) {
      values.push(value);
      sum += value;
    },
    quantile(share) {
      const sorted = Float64Array.from(values).toSorted();
      return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    },
  };
}
