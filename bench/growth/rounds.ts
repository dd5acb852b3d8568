import { median } from '../figures.ts';

/**
 * The median of every figure, size by size. Sizes are measured in turn, another one first in every round: whatever else
 * the machine does, and whatever is left over from the one before, falls on all of them alike.
 */
export async function mediansOf<Size, Name extends string>(
  sizes: readonly Size[],
  rounds: number,
  measure: (size: Size, round: number) => Promise<Readonly<Record<Name, number>>>,
): Promise<(name: Name) => [size: Size, value: number][]> {
  const measured = sizes.map((size) => ({ size, figures: [] as Readonly<Record<Name, number>>[] }));
  for (let round = 0; round < rounds; round += 1) {
    const first = round % measured.length;
    for (const { size, figures } of [...measured.slice(first), ...measured.slice(0, first)])
      figures.push(await measure(size, round));
  }
  return (name) =>
    measured.map(({ size, figures }) => [size, median(figures.map((each) => each[name]))]);
}
