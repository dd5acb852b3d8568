import { readFileSync } from 'node:fs';
import { type RequestListener, createServer } from 'node:http';
import { join } from 'node:path';

/**
 * The raw limit: `node:http` reads the request and sends bytes that lie ready, the gateway's own answer.
 * `POST /webhooks` reads the body and answers with nothing, which is the limit for taking webhooks in.
 */
const dir = process.env['BYTES_DIR'];
const answers = new Map(
  (dir ? ['W1', 'W2S', 'W2'] : []).map((name) => [`/${name}`, readFileSync(join(dir ?? '', name))]),
);

const handle: RequestListener = (req, res) => {
  req.on('data', () => {});
  req.on('end', () => {
    const body = answers.get(req.url ?? '');
    if (!body) return void res.writeHead(200, { 'content-length': 0 }).end();
    res.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': body.length,
      'cache-control': 'no-store',
    });
    res.end(body);
  });
};

createServer(handle).listen(Number(process.env['PORT']), '127.0.0.1');
