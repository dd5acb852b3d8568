import type { IncomingMessage } from 'node:http';

const MOST_BYTES = 1_048_576;

export type Body =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'too large' };

/** Calls back once, at once for verbs that carry nothing: the many GETs of a load test wait for no promise. */
export function withBody(request: IncomingMessage, use: (body: Body) => void): void {
  if (request.method !== 'POST' && request.method !== 'PATCH') {
    request.resume();
    use({ kind: 'none' });
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MOST_BYTES) chunks.push(chunk);
  });
  request.on('end', () => {
    use(size > MOST_BYTES ? { kind: 'too large' } : parsed(Buffer.concat(chunks).toString('utf8')));
  });
}

function parsed(text: string): Body {
  if (text.trim() === '') return { kind: 'none' };
  try {
    return { kind: 'json', value: JSON.parse(text) };
  } catch {
    return { kind: 'malformed' };
  }
}
