import { createServer, type RequestListener } from 'node:http';

export interface Listening {
  readonly port: number;
  /** At once: open connections are cut, not awaited. */
  readonly close: () => Promise<void>;
}

/** Made-up as they are, these patients are nobody's business but this machine's. */
export const LOOPBACK = '127.0.0.1';

export async function listen(handler: RequestListener, port: number): Promise<Listening> {
  const server = createServer(handler);
  // Longer than any client's pool keeps a connection: a reused socket must not meet a closing server.
  server.keepAliveTimeout = 120_000;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(port, LOOPBACK, resolve);
  await promise;
  const address = server.address();
  if (typeof address !== 'object' || address === null)
    throw new Error('wanted a TCP port, but got none');
  return {
    port: address.port,
    async close() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
}
