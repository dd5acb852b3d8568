import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

import { type Refusal, refuseTransport } from './refusal.ts';

/** By the announced length, before a byte is read. */
export function lengthProblem(req: IncomingMessage, maxBytes: number): Refusal | undefined {
  return Number(req.headers['content-length'] ?? 0) > maxBytes ? tooLarge(maxBytes) : undefined;
}

/** The whole body as text, given up as soon as it is longer than `maxBytes`. */
export function readBody(req: IncomingMessage, maxBytes: number): Promise<string | Refusal> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // Listeners, since an async iterator costs more than the whole of a small request.
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else resolve(tooLarge(maxBytes));
    });
    req.on('end', () => resolve(textOf(inOnePiece(chunks))));
    req.on('error', () => resolve(refuseTransport(400, 'The body broke off.')));
  });
}

const inOnePiece = (chunks: readonly Buffer[]): Buffer =>
  (chunks.length === 1 ? chunks[0] : undefined) ?? Buffer.concat(chunks);

/** Read leniently, a name in another encoding would reach a patient's note with its letters replaced. */
const textOf = (bytes: Buffer): string | Refusal =>
  isUtf8(bytes) ? bytes.toString('utf8') : refuseTransport(400, 'The body must be UTF-8.');

const tooLarge = (maxBytes: number) =>
  refuseTransport(413, `A request may have at most ${maxBytes} bytes.`);

/** Only plain JSON: forms and text can be sent across origins without asking, and compressed bodies can explode. */
export function contentProblem({ headers }: IncomingMessage): Refusal | undefined {
  const { 'content-type': content = '', 'content-encoding': encoding } = headers;
  if (content === 'application/json' && encoding === undefined) return undefined;
  const [type = '', ...parameters] = content.toLowerCase().split(';');
  const charsets = parameters.filter((text) => text.trim().startsWith('charset'));
  const isJson = type.trim() === 'application/json';
  if (!isJson || !charsets.every((text) => /^\s*charset="?utf-?8"?\s*$/.test(text))) {
    return refuseTransport(415, 'The body must be sent as application/json in UTF-8.');
  }
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return refuseTransport(415, 'The body must be sent without a content encoding.');
  }
  return undefined;
}

export function parseJson(text: string): { readonly json: unknown } | Refusal {
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return refuseTransport(400, 'The body must be valid JSON.');
  }
}
