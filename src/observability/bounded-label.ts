/**
 * Keeps a label's values few: past `limit` distinct ones the rest are `other`. A frontend may send a new
 * operation name with every request, and each would be a time series for ever.
 */
export function boundedLabel(limit: number): (value: string) => string {
  const seen = new Set<string>();
  return (value) => {
    if (seen.has(value)) return value;
    if (seen.size >= limit) return 'other';
    seen.add(value);
    return value;
  };
}
