/** An object as the Partner API gave it. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A string, or null for any other type: it must not fail the whole record. */
export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

export const objectsOf = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** JSON of any depth can be parsed, but serializing it takes stack for each level. Real data stays far below this. */
export const MAX_LEVELS = 200;

export function isNestedTooDeep(value: unknown, levels = MAX_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const values: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  // A plain loop, since every answer of the Partner API is checked.
  for (const each of values) if (isNestedTooDeep(each, levels - 1)) return true;
  return false;
}
