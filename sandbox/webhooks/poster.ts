import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

const TIMEOUT_MS = 10_000;

/** Posts webhooks over kept-alive connections. Redirects are not followed: they are not 2xx. */
export function createPoster() {
  const agents = {
    http: new HttpAgent({ keepAlive: true }),
    https: new HttpsAgent({ keepAlive: true }),
  };
  return {
    /** Whether the receiver answered 2xx. Never rejects. */
    send(url: URL, body: Buffer, headers: Readonly<Record<string, string>>): Promise<boolean> {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const isSecure = url.protocol === 'https:';
      const request = (isSecure ? httpsRequest : httpRequest)(url, {
        method: 'POST',
        agent: isSecure ? agents.https : agents.http,
        timeout: TIMEOUT_MS,
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
