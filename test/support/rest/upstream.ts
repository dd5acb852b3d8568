import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PartnerConnection } from '../../../src/rest/partner.ts';

/** A scripted Partner API that records its requests. */
export interface Upstream extends AsyncDisposable {
  readonly connection: PartnerConnection;
  /** All requests but those for a token. */
  readonly seen: readonly SeenRequest[];
  /** The number of tokens requested. They are `token-1`, `token-2` and so on. */
  readonly authenticated: number;
  readonly maxInFlight: number;
  /** Resolves once that many requests, tokens aside, have arrived. */
  arrived(count: number): Promise<void>;
}

export interface SeenRequest {
  readonly method: string;
  /** Below the base URL, with its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Counted from one, tokens aside. */
  readonly number: number;
  readonly token: string | undefined;
}

export type Script = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

export interface UpstreamOptions {
  /** Instead of issuing a token. */
  readonly authenticate?: (response: ServerResponse, number: number) => void;
  readonly expiresIn?: number;
}

export async function openUpstream(
  script: Script,
  options: UpstreamOptions = {},
): Promise<Upstream> {
  const seen: SeenRequest[] = [];
  const awaited: { count: number; resolve: () => void }[] = [];
  let authenticated = 0;
  let inFlight = 0;
  let maxInFlight = 0;

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    inFlight += 1;
    maxInFlight = Math.max(maxInFlight, inFlight);
    response.once('close', () => (inFlight -= 1));
    let body = '';
    for await (const chunk of request) body += String(chunk);

    const path = (request.url ?? '').replace(/^\/v2/, '');
    if (path === '/partners/authenticate') {
      authenticated += 1;
      if (options.authenticate) return options.authenticate(response, authenticated);
      const token = { accessToken: `token-${authenticated}`, expiresIn: options.expiresIn ?? 3600 };
      return answer(response, 200, { ...token, tokenType: 'Bearer' });
    }
    const token = request.headers['access-token'];
    const one: SeenRequest = {
      method: request.method ?? '',
      path,
      headers: request.headers,
      body,
      number: seen.length + 1,
      token: typeof token === 'string' ? token : undefined,
    };
    seen.push(one);
    for (const { count, resolve } of awaited) if (seen.length >= count) resolve();
    await script(one, response);
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    connection: {
      baseUrl: `http://127.0.0.1:${port}/v2`,
      clientId: 'client-id',
      clientSecret: 'client-secret',
      apiKey: 'api-key',
    },
    seen,
    get authenticated() {
      return authenticated;
    },
    get maxInFlight() {
      return maxInFlight;
    },
    arrived: (count) =>
      new Promise((resolve) => {
        if (seen.length >= count) resolve();
        else awaited.push({ count, resolve });
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** The application's envelope. */
export function envelope(statusCode: number, message: unknown): unknown {
  return { error: { type: 'X', message, statusCode, timestamp: '', details: [] }, path: '/x' };
}

export function pageBody(total: number, page: number, rows?: readonly unknown[]): unknown {
  const count = Math.max(0, Math.min(10, total - (page - 1) * 10));
  const data = rows ?? Array.from({ length: count }, (_, i) => ({ id: uuid((page - 1) * 10 + i) }));
  const meta = { totalItems: total, totalPages: Math.ceil(total / 10), itemsPerPage: 10 };
  return { data, meta: { ...meta, currentPage: page } };
}

export function uuid(n: number): string {
  return `3f0a6e1c-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
}
