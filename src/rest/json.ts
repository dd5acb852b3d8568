/** An object as the Partner API gave it. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A string, or null for whatever else stands there: an unexpected type must not fail the whole record. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
