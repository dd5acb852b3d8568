export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
};

/** How far the rounds lie apart, as a share of their median. */
export const spread = (values: readonly number[]): number =>
  (Math.max(...values) - Math.min(...values)) / median(values);

/** One line of the table. What does not apply is left out. */
export interface Figure {
  readonly row: string;
  readonly target: string;
  readonly ratio?: number;
  readonly spread?: number;
  readonly cpuUs?: number;
  /** The part of it that bounds the throughput. */
  readonly mainThreadUs?: number;
  readonly perSecond?: number;
  readonly ms?: number;
  readonly upstreamCalls?: number;
  readonly memoryMb?: number;
  readonly note?: string;
  readonly goal?: string;
  readonly met?: boolean;
}
