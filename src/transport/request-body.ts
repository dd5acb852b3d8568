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
    req.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    req.on('error', () => resolve(refuseTransport(400, 'The body broke off.')));
  });
}

const tooLarge = (maxBytes: number) =>
  refuseTransport(413, `A request may have at most ${maxBytes} bytes.`);

/** Only plain JSON: forms and text can be sent across origins without asking, and compressed bodies can explode. */
export function contentProblem({ headers }: IncomingMessage): Refusal | undefined {
  const { 'content-type': content = '', 'content-encoding': encoding } = headers;
  if (content === 'application/json' && encoding === undefined) return undefined;
  const [type = '', ...parameters] = content.toLowerCase().split(';');
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith('charset='));
  const isJson = type.trim() === 'application/json';
  if (!isJson || (charset && !/^charset="?utf-?8"?$/.test(charset))) {
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
