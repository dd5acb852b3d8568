import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Ingest } from './ingest.ts';

export interface WebhookDoorParts {
  readonly ingest: Ingest;
  readonly maxBytes?: number;
  /** Called for each request whose signature does not hold. */
  readonly onForged?: () => void;
}

type Status = 200 | 400 | 401 | 405 | 413 | 415 | 503;

const MAX_BYTES = 256 * 1024;
const RETRY_AFTER_SECONDS = '5';
/** How long, and how many times `maxBytes`, a refused body is read on so that its sender hears why. */
const LINGER_MS = 1_000;
const LINGER_FACTOR = 4;

/** The route itself is the caller's; any content type will do, since only the bytes are signed. */
export function createWebhookDoor(parts: WebhookDoorParts) {
  const maxBytes = parts.maxBytes ?? MAX_BYTES;

  return (req: IncomingMessage, res: ServerResponse): void => {
    if (req.method !== 'POST') {
      res.setHeader('allow', 'POST');
      refuse(req, res, 405);
      return;
    }
    if (Number(req.headers['content-length'] ?? 0) > maxBytes) {
      refuse(req, res, 413);
      return;
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      req.off('data', take).off('end', finish);
      refuse(req, res, 413);
    };
    const finish = (): void => {
      const [whole] = chunks;
      const body = whole && chunks.length === 1 ? whole : Buffer.concat(chunks);
      void deliver(req, res, body);
    };
    // A sender that hangs up half way was never answered, so it owes us the delivery still.
    req.on('error', () => undefined);
    req.on('data', take).on('end', finish);
  };

  async function deliver(req: IncomingMessage, res: ServerResponse, body: Buffer): Promise<void> {
    const { status } = await parts.ingest(req.headers, body);
    if (status === 401) parts.onForged?.();
    answer(res, status);
  }

  /**
   * Closing a socket with unread bytes resets it, and the sender may lose the answer. So a little more
   * is read and thrown away; one that sends without end is cut off.
   */
  function refuse(req: IncomingMessage, res: ServerResponse, status: Status): void {
    answer(res, status);
    let left = maxBytes * LINGER_FACTOR;
    const cut = (): void => void req.socket.destroy();
    const timer = setTimeout(cut, LINGER_MS).unref();
    req.on('error', () => undefined);
    req.on('data', (chunk: Buffer) => (left -= chunk.length) < 0 && cut());
    req.on('close', () => clearTimeout(timer)).on('end', () => clearTimeout(timer));
  }
}

/** A status and nothing else: whoever can't sign learns nothing, and whoever can needs no more. */
function answer(res: ServerResponse, status: Status): void {
  if (status === 503) res.setHeader('retry-after', RETRY_AFTER_SECONDS);
  res.writeHead(status, { 'content-length': 0 }).end();
}
