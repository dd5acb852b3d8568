import type { IncomingMessage } from 'node:http';

/** Limits all incomplete bodies together. Above it, the request that has been incomplete for longest is closed. */
const MAX_BUFFERED_BYTES = 64 * 2 ** 20;

/** Memory that a chunk takes besides its bytes. A chunked body may have a chunk for each byte. */
export const CHUNK_BYTES = 300;

export class BodyTooLarge extends Error {}

/** Reads whole bodies. Rejects with `BodyTooLarge` as soon as one is, or is announced to be, longer than `maxBytes`. */
export function createBodyReader(maxBytes: number) {
  /** The requests whose bodies are incomplete, oldest first. */
  const reading = new Set<IncomingMessage>();
  let bufferedBytes = 0;

  return (req: IncomingMessage): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      if (Number(req.headers['content-length']) > maxBytes) return reject(new BodyTooLarge());
      // Most bodies have arrived when their request is handled, at the end of its turn. They are read synchronously.
      if (req.complete) {
        const body = (req.read() as Buffer | null) ?? Buffer.alloc(0);
        return body.length > maxBytes ? reject(new BodyTooLarge()) : resolve(body);
      }
      const chunks: Buffer[] = [];
      let bytes = 0;
      let counted = 0;
      const release = (): void => {
        if (reading.delete(req)) bufferedBytes -= counted;
      };
      // Listeners are used because an async iterator costs more than the rest of a small request.
      req.on('data', (chunk: Buffer) => {
        if (bytes + chunk.length > maxBytes) return reject(new BodyTooLarge());
        bytes += chunk.length;
        chunks.push(chunk);
        if (req.complete) return;
        if (counted === 0) req.once('close', release);
        reading.add(req);
        counted += chunk.length + CHUNK_BYTES;
        bufferedBytes += chunk.length + CHUNK_BYTES;
        if (bufferedBytes <= MAX_BUFFERED_BYTES) return;
        // Without an error, its promise would never settle.
        reading.values().next().value?.destroy(new Error('Incomplete bodies take too much memory'));
      });
      req.on('end', () => {
        release();
        resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
      });
      req.on('error', reject);
    });
}
