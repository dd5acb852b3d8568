import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

export type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

export interface Content {
  readonly type: string;
  /** Called once, at the first request. */
  readonly load: () => Promise<Buffer>;
  /** Added to the headers of every file. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface Loaded {
  readonly plain: Buffer;
  readonly zipped: Buffer;
  readonly etag: string;
}

const zip = promisify(gzip);

/** Serves one file: read and compressed once, then 304 for a browser that has it. */
export function serveFile({ type, load, headers = {} }: Content): Handler {
  let loading: Promise<Loaded> | undefined;

  return async (req, res) => {
    loading ??= loaded(load);
    // After a failure the next request tries again.
    const { plain, zipped, etag } = await loading.catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    const isZipped = /\bgzip\b/.test(req.headers['accept-encoding'] ?? '');
    const common = {
      ...headers,
      etag,
      // Browsers ask every time, so that a new release is seen at once; the answer is mostly 304.
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      vary: 'Accept-Encoding',
    };
    if (req.headers['if-none-match'] === etag) {
      res.writeHead(304, common).end();
      return;
    }
    const body = isZipped ? zipped : plain;
    res.writeHead(200, {
      ...common,
      'content-type': type,
      'content-length': body.length,
      ...(isZipped ? { 'content-encoding': 'gzip' } : {}),
    });
    res.end(req.method === 'HEAD' ? undefined : body);
  };
}

async function loaded(load: Content['load']): Promise<Loaded> {
  const plain = await load();
  // Weak, since it is the same for both encodings.
  const etag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  return { plain, zipped: await zip(plain), etag };
}
