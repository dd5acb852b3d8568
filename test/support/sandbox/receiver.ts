import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { WebhookEvent } from '../../../sandbox/sandbox.ts';

export interface Received {
  readonly event: WebhookEvent;
  readonly headers: IncomingHttpHeaders;
  /** The expected signature of these bytes. */
  readonly signatureWith: (secret: string) => string;
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Statuses for the next deliveries; 200 once they are used up, 0 resets the connection. */
  readonly answerWith: (...statuses: readonly number[]) => void;
  readonly close: () => Promise<void>;
}

/** A webhook receiver that records its deliveries. */
export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const statuses: number[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const bytes = Buffer.concat(chunks);
      received.push({
        event: JSON.parse(bytes.toString('utf8')),
        headers: request.headers,
        signatureWith: (secret) => createHmac('sha256', secret).update(bytes).digest('hex'),
      });
      const status = statuses.shift() ?? 200;
      if (status === 0) response.socket?.destroy();
      else response.writeHead(status).end();
    });
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('wanted a port');
  return {
    url: `http://127.0.0.1:${address.port}/webhooks`,
    received,
    answerWith: (...next) => void statuses.push(...next),
    async close() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
}
