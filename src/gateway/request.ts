import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

import { MOST_LEVELS, isNestedTooDeep } from '../rest/json.ts';
import { type ClientError, requestRejected } from './client-error.ts';
import type { TrustedDocuments } from './trusted-documents.ts';

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

/** What is wrong with a request, as far as its headers tell. */
export function requestProblem(req: IncomingMessage, maxBytes: number): ClientError | undefined {
  if (req.method !== 'POST') return NOT_POST;
  const { json, stream } = acceptedBy(req.headers.accept);
  if (!json && !stream) return NOT_ACCEPTABLE;
  const announced = Number(req.headers['content-length'] ?? 0);
  return contentProblem(req) ?? (announced > maxBytes ? tooLarge(maxBytes) : undefined);
}

const NOT_POST = requestRejected(
  405,
  'Send a POST with a JSON body. Clients that send queries by GET can be told not to: preferGetMethod: false in urql, useGETForQueries: false in Apollo Client.',
  'BAD_USER_INPUT',
  { allow: 'POST' },
);
const NOT_ACCEPTABLE = requestRejected(
  406,
  'Answers can be had as application/graphql-response+json, application/json or text/event-stream.',
);
const tooLarge = (maxBytes: number) =>
  requestRejected(413, `A request may have at most ${maxBytes} bytes.`);

/** Only plain JSON: forms and text can be sent across origins without asking, and compressed bodies can explode. */
function contentProblem({ headers }: IncomingMessage): ClientError | undefined {
  const { 'content-type': content = '', 'content-encoding': encoding } = headers;
  if (content === 'application/json' && encoding === undefined) return undefined;
  const [type = '', ...parameters] = content.toLowerCase().split(';');
  const charsets = parameters.filter((text) => text.trim().startsWith('charset'));
  const isJson = type.trim() === 'application/json';
  if (!isJson || !charsets.every((text) => /^\s*charset="?utf-?8"?\s*$/.test(text))) {
    return requestRejected(415, 'The body must be sent as application/json in UTF-8.');
  }
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return requestRejected(415, 'The body must be sent without a content encoding.');
  }
  return undefined;
}

/** The whole body as text, given up as soon as it is longer than `maxBytes`. */
export function readBody(req: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // Listeners, since an async iterator costs more than the whole of a small request.
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else reject(tooLarge(maxBytes));
    });
    req.on('end', () => {
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      // Read leniently, a name in another encoding would reach a patient's note with its letters replaced.
      if (isUtf8(bytes)) resolve(bytes.toString('utf8'));
      else reject(requestRejected(400, 'The body must be UTF-8.'));
    });
    req.on('error', () => reject(requestRejected(400, 'The body broke off.')));
  });
}

/** An operation as a client sends it. */
export interface OperationParams {
  readonly query: string;
  readonly variables?: Record<string, unknown>;
  readonly operationName?: string;
}

export function parseParams(text: string, trusted?: TrustedDocuments): OperationParams {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw requestRejected(400, 'The body must be valid JSON.');
  }
  return paramsFrom(json, trusted);
}

/**
 * Reads only the names it knows, so that nothing else in a body (`__proto__` included) can have an effect. All
 * transports read operations here: with trusted documents, no other gets any further.
 */
export function paramsFrom(body: unknown, trusted?: TrustedDocuments): OperationParams {
  rejectIf(Array.isArray(body), 'Batching is not supported: send one operation a request.');
  if (!isPlainObject(body)) {
    throw requestRejected(400, 'The body must be a JSON object with a "query".');
  }
  const { variables, operationName, extensions } = body;
  const query = documentOf(body, trusted);
  rejectIf(isGiven(variables) && !isPlainObject(variables), '"variables" must be an object.');
  rejectIf(
    isNestedTooDeep(variables),
    `"variables" may be nested at most ${MOST_LEVELS} levels deep, and these are deeper.`,
  );
  rejectIf(
    isGiven(operationName) && typeof operationName !== 'string',
    '"operationName" must be a string.',
  );
  rejectIf(isGiven(extensions) && !isPlainObject(extensions), '"extensions" must be an object.');
  return {
    query,
    ...(isPlainObject(variables) && { variables }),
    ...(typeof operationName === 'string' && { operationName }),
  };
}

function documentOf(body: Record<string, unknown>, trusted?: TrustedDocuments): string {
  const { query } = body;
  // graphql-ws's clients can't leave "query" out: they send it empty.
  const id = isGiven(query) && query !== '' ? undefined : documentIdOf(body);
  if (id !== undefined) {
    if (trusted) return trusted.byId(id);
    // In the words by which clients know that they have to send the document itself.
    throw requestRejected(404, 'PersistedQueryNotSupported', 'PERSISTED_QUERY_NOT_SUPPORTED');
  }
  if (typeof query !== 'string' || query === '') {
    throw requestRejected(400, '"query" must be a string that holds a GraphQL document.');
  }
  return trusted ? trusted.byText(query) : query;
}

/** As GraphQL over HTTP has it, or as Apollo Client sends it. */
function documentIdOf({ documentId, extensions }: Record<string, unknown>): unknown {
  if (isGiven(documentId)) return documentId;
  const persisted = isPlainObject(extensions) ? extensions['persistedQuery'] : undefined;
  if (!isGiven(persisted)) return undefined;
  return isPlainObject(persisted) ? (persisted['sha256Hash'] ?? null) : null;
}

function rejectIf(isWrong: boolean, message: string): void {
  if (isWrong) throw requestRejected(400, message);
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
