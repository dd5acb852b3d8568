/** A place in the answer: made only for what can hold more fields, or comes late. */
export interface Place {
  /** Undefined for the answer's data as a whole. */
  readonly above: Place | undefined;
  readonly key: string | number;
  readonly nullable: boolean;
  /** Undefined until it is here. Kept only for what is, or holds, something late: the rest is written out at once. */
  text: Text | undefined;
  isGivenUp: boolean;
}

/** JSON text: all of it where everything was cached, with places in it for what was not. */
export type Text = string | Place | readonly Text[];

export function placeIn(above: Place | undefined, key: string | number, nullable: boolean): Place {
  return { above, key, nullable, text: undefined, isGivenUp: false };
}

export function keysOf(place: Place): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at = place; at.above; at = at.above) keys.unshift(at.key);
  return keys;
}

/** What becomes null if this place can't be filled. */
export function nullableAt(place: Place): Place {
  let at = place;
  while (!at.nullable && at.above) at = at.above;
  return at;
}

/** How many places were still awaited in it: nobody will look at them any more. */
export function giveUp(text: Text | undefined): number {
  if (text === undefined || typeof text === 'string') return 0;
  if (!isPlace(text)) return text.reduce((count, part) => count + giveUp(part), 0);
  if (text.text !== undefined) return giveUp(text.text);
  text.isGivenUp = true;
  return 1;
}

/** Once every place in it has been filled. */
export function wholeText(text: Text): string {
  if (typeof text === 'string') return text;
  const pieces: string[] = [];
  collect(text, pieces);
  return pieces.join('');
}

function collect(text: Text, pieces: string[]): void {
  if (typeof text === 'string') pieces.push(text);
  else if (isPlace(text)) collect(text.text ?? 'null', pieces);
  else for (const part of text) collect(part, pieces);
}

const isPlace = (text: Place | readonly Text[]): text is Place => !Array.isArray(text);
