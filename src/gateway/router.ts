import type { IncomingMessage, ServerResponse } from 'node:http';

type Handler = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>;

export interface Route {
  readonly path: string;
  readonly methods: Readonly<Record<string, Handler>>;
}

export interface RouterParts {
  readonly routes: readonly Route[];
  readonly onFailure: (error: unknown) => void;
}

/** A handful of exact paths. What a handler throws is the gateway's own fault: masked, counted, survived. */
export function createRouter({ routes, onFailure }: RouterParts) {
  const byPath = new Map(routes.map((route) => [route.path, route.methods]));

  return (req: IncomingMessage, res: ServerResponse): void => {
    const { url = '/', method = 'GET' } = req;
    if (method === 'TRACE') return plain(res, 405, 'Method not allowed');
    if (!url.startsWith('/')) return plain(res, 400, 'The request must name a path');
    const query = url.indexOf('?');
    const methods = byPath.get(query < 0 ? url : url.slice(0, query));
    if (!methods) return plain(res, 404, 'Not found');
    const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (!handler) return notAllowed(res, Object.keys(methods));
    const failed = (error: unknown): void => {
      onFailure(error);
      if (res.headersSent) res.destroy();
      else plain(res, 500, 'Unexpected error');
    };
    try {
      const handled = handler(req, res);
      handled?.catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}

export function notAllowed(res: ServerResponse, allowed: readonly string[]): void {
  res.setHeader('allow', allowed.join(', '));
  plain(res, 405, 'Method not allowed');
}

/** JSON like everything else here, so that a client's parser never meets a surprise. */
function plain(res: ServerResponse, status: number, message: string): void {
  const code = status >= 500 ? 'INTERNAL_SERVER_ERROR' : 'BAD_USER_INPUT';
  const body = JSON.stringify({ errors: [{ message: `${message}.`, extensions: { code } }] });
  res.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(body);
}
