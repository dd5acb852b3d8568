/** The most for which `holds`, by halving: to a hundredth. */
export function highest(
  holds: (amount: number) => boolean,
  from: number,
  precision = 0.005,
): number {
  let low = from;
  while (holds(low * 2)) low *= 2;
  if (low === from && !holds(low)) return 0;
  let high = low * 2;
  while (high / low > 1 + precision) {
    const middle = Math.sqrt(low * high);
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}
