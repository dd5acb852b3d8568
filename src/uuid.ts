/** A lower-case UUID. The Partner API identifies every record by one, except assessments. */
export type Uuid = string & { readonly __uuid: unique symbol };

const SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const NIL = '00000000-0000-0000-0000-000000000000';

/** Lower-cased, or undefined if the text is not a UUID. The nil UUID names no record and is rejected too. */
export function toUuid(text: unknown): Uuid | undefined {
  if (typeof text !== 'string' || text === NIL || !SHAPE.test(text)) return undefined;
  return text.toLowerCase() as Uuid;
}
