import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

import { LRUCache } from 'lru-cache';

import { REQUEST_ID_HEADER, requestIdOf } from '../observability/request-id.ts';
import { BodyTooLarge, createBodyReader } from '../request-body.ts';
import { type ClientError, requestRejected } from './client-error.ts';

/** GraphQL over HTTP has two JSON types with different rules for the status. */
const JSON_TYPES = ['application/graphql-response+json', 'application/json'];

/** By header: a request needs it several times, and most clients send the same one. */
const accepted = new LRUCache({ max: 100, memoMethod: parseAccept });

/** The JSON type that the client prefers, if any, and whether it accepts server-sent events. By default plain JSON. */
export const acceptedBy = ({ headers: { accept = '' } }: IncomingMessage) => accepted.memo(accept);

function parseAccept(header: string) {
  const ranges = (header.trim() || '*/*')
    .split(',', MAX_PARTS)
    .map(rangeOf)
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality);
  const jsonType = ranges
    .map(({ type }) => (type === '*/*' || type === 'application/*' ? 'application/json' : type))
    .find((type) => JSON_TYPES.includes(type));
  return { jsonType, stream: ranges.some(({ type }) => type === 'text/event-stream') };
}

/** A longer list would take time before the token is verified. */
const MAX_PARTS = 20;
const partsOf = (text: string) =>
  text.split(';', MAX_PARTS).map((part) => part.trim().toLowerCase());

function rangeOf(text: string): { readonly type: string; readonly quality: number } {
  const [type = '', ...parameters] = partsOf(text);
  const quality = parameters.find((part) => part.startsWith('q='))?.slice(2);
  return { type, quality: quality === undefined ? 1 : Number(quality) || 0 };
}

/** What is wrong with a request, judged by its headers. */
export function requestProblem(req: IncomingMessage, maxBytes: number): ClientError | undefined {
  if (req.method !== 'POST') return NOT_POST;
  const { jsonType, stream } = acceptedBy(req);
  if (!jsonType && !stream) return NOT_ACCEPTABLE;
  // Only plain JSON: forms and text need no preflight across origins, and compressed bodies can be huge.
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = req.headers;
  if (type !== 'application/json' && !isJsonInUtf8(type)) return NOT_JSON;
  if (encoding.toLowerCase() !== 'identity') return ENCODED;
  return Number(req.headers['content-length'] ?? 0) > maxBytes ? tooLarge(maxBytes) : undefined;
}

const NOT_POST = requestRejected(
  405,
  'Send a POST with a JSON body. Clients that send queries by GET can be told not to: preferGetMethod: false in urql, useGETForQueries: false in Apollo Client.',
);
const NOT_ACCEPTABLE = requestRejected(
  406,
  'Accept application/graphql-response+json, application/json or text/event-stream.',
);
const NOT_JSON = requestRejected(415, 'The body must be sent as application/json in UTF-8.');
const ENCODED = requestRejected(415, 'The body must be sent without a content encoding.');
const tooLarge = (maxBytes: number) =>
  requestRejected(413, `A request may have at most ${maxBytes} bytes.`);

function isJsonInUtf8(contentType: string): boolean {
  const [type, ...parameters] = partsOf(contentType);
  const charsets = parameters.filter((text) => text.startsWith('charset'));
  const isUtf8Named = charsets.every((text) => /^charset="?utf-?8"?$/.test(text));
  return type === 'application/json' && isUtf8Named;
}

export function createBodyTextReader(maxBytes: number) {
  const read = createBodyReader(maxBytes);
  return async (req: IncomingMessage): Promise<string> => {
    const bytes = await read(req).catch((error: unknown) => {
      if (error instanceof BodyTooLarge) throw tooLarge(maxBytes);
      throw requestRejected(400, 'The body broke off.');
    });
    // Decoded leniently, text in another encoding would be written into a note with wrong letters.
    if (!isUtf8(bytes)) throw requestRejected(400, 'The body must be UTF-8.');
    return bytes.toString('utf8');
  };
}

/** Headers of every response to a request. Browsers must not guess another content type. */
export const commonHeaders = (req: IncomingMessage) => ({
  [REQUEST_ID_HEADER]: requestIdOf(req),
  'x-content-type-options': 'nosniff',
});
