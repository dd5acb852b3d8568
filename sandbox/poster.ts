import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** Sends one webhook over kept-alive connections. Redirects are not followed: they are no 2xx. */
export interface Poster {
  /** Whether the receiver answered 2xx. Never rejects. */
  readonly send: (
    url: URL,
    body: Buffer,
    headers: Readonly<Record<string, string>>,
  ) => Promise<boolean>;
  readonly close: () => void;
}

const PATIENCE_MS = 10_000;

export function createPoster(): Poster {
  const agents = {
    http: new HttpAgent({ keepAlive: true }),
    https: new HttpsAgent({ keepAlive: true }),
  };
  return {
    send(url, body, headers) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const isSecure = url.protocol === 'https:';
      const request = (isSecure ? httpsRequest : httpRequest)(url, {
        method: 'POST',
        agent: isSecure ? agents.https : agents.http,
        timeout: PATIENCE_MS,
        headers: { 'content-type': 'application/json', 'content-length': body.length, ...headers },
      });
      request.on('response', (response) => {
        const { statusCode = 0 } = response;
        resolve(statusCode >= 200 && statusCode < 300);
        response.resume();
      });
      request.on('timeout', () => request.destroy());
      request.on('error', () => resolve(false));
      request.on('close', () => resolve(false));
      request.end(body);
      return promise;
    },
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}
