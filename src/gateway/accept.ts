/** GraphQL over HTTP has two JSON types: they differ in what the status says. */
export type JsonType = 'application/graphql-response+json' | 'application/json';

/** What a client can read. */
export interface Accepted {
  /** Undefined if it takes no JSON. */
  readonly json: JsonType | undefined;
  /** Takes server-sent events. */
  readonly stream: boolean;
}

const JSON_TYPES: readonly JsonType[] = ['application/graphql-response+json', 'application/json'];
const PLAIN: Accepted = { json: 'application/json', stream: false };

/** By the client's own preferences. One that states none gets plain JSON. */
export function acceptedBy(header: string | undefined): Accepted {
  if (header === undefined || header.trim() === '' || header === 'application/json') return PLAIN;
  const ranges = header
    .split(',')
    .map(rangeOf)
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality);
  const json = ranges.map(({ type }) => jsonOf(type)).find((type) => type !== undefined);
  return { json, stream: ranges.some(({ type }) => type === 'text/event-stream') };
}

function jsonOf(range: string): JsonType | undefined {
  if (range === '*/*' || range === 'application/*') return 'application/json';
  return JSON_TYPES.find((type) => type === range);
}

function rangeOf(text: string): { readonly type: string; readonly quality: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((part) => part.startsWith('q='))?.slice(2);
  return { type, quality: quality === undefined ? 1 : Number(quality) || 0 };
}
