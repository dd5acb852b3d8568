/**
 * JSON can be read however deep it is nested, but writing it again takes a piece of the stack for each level. Nobody who
 * means it comes near this.
 */
export const MOST_LEVELS = 200;

export function isNestedTooDeep(value: unknown, levels = MOST_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return inner.some((each) => isNestedTooDeep(each, levels - 1));
}
