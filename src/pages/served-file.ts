import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

export type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

export interface Content {
  readonly type: string;
  /** Asked for when the first browser wants it, and once. */
  readonly load: () => Promise<Buffer>;
  /** On top of those that every file here has. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface Loaded {
  readonly plain: Buffer;
  readonly zipped: Buffer;
  readonly etag: string;
}

const zip = promisify(gzip);

/** One file for browsers: read and compressed once, afterwards told apart by its ETag and not sent again. */
export function serveFile({ type, load, headers = {} }: Content): Handler {
  let loading: Promise<Loaded> | undefined;

  return async (req, res) => {
    loading ??= loaded(load);
    // What failed once may work at the next try.
    const { plain, zipped, etag } = await loading.catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    const isZipped = /\bgzip\b/.test(req.headers['accept-encoding'] ?? '');
    const common = {
      ...headers,
      etag,
      // Always asked for again, so that a new release is seen at once; mostly answered 304.
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
  // Weak: it names the content, whichever way that is encoded.
  const etag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  return { plain, zipped: await zip(plain), etag };
}
