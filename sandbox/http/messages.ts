import type { IncomingMessage, ServerResponse } from 'node:http';

const MAX_BODY_BYTES = 1_048_576;

export interface Body {
  readonly kind: 'none' | 'json' | 'malformed' | 'too large';
  /** The parsed JSON. */
  readonly value?: unknown;
}

/** Reads the body and calls back once. For a GET it calls back synchronously, which keeps load tests fast. */
export function readBody(request: IncomingMessage, use: (body: Body) => void): void {
  if (request.method !== 'POST' && request.method !== 'PATCH') {
    request.resume();
    use({ kind: 'none' });
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  });
  request.on('end', () => {
    const text = Buffer.concat(chunks).toString('utf8');
    use(size > MAX_BODY_BYTES ? { kind: 'too large' } : parse(text));
  });
}

function parse(text: string): Body {
  if (text.trim() === '') return { kind: 'none' };
  try {
    return { kind: 'json', value: JSON.parse(text) };
  } catch {
    return { kind: 'malformed' };
  }
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
