export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
};

/** How far the rounds lie apart, as a share of their median. */
export const spread = (values: readonly number[]): number =>
  (Math.max(...values) - Math.min(...values)) / median(values);

/** Round by round. What is compared with itself has a ratio without a spread: then it is that of what was measured. */
export function ratioOf<Round>(
  over: readonly Round[],
  under: readonly Round[],
  of: (round: Round) => number,
): { readonly ratio: number; readonly spread: number } {
  const unders = under.map(of);
  const ratios = over.map((round, i) => of(round) / (unders[i] ?? Number.NaN));
  return { ratio: median(ratios), spread: spread(over === under ? unders : ratios) };
}

export const megabytes = (bytes: number): number => bytes / 2 ** 20;

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
