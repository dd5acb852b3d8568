import { hash } from 'node:crypto';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

import { type GraphQLSchema, printSchema } from 'graphql';

import type { Config } from '../config.ts';

type Load = (name: string) => string | Promise<string | Buffer>;

/** Only this origin's scripts and styles, and nothing inline: a note's text can never run. */
const SCRIPT_POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const POLICY = `${SCRIPT_POLICY}; style-src 'self'; img-src 'self'`;
/** Monaco sets styles on elements and has its fonts as data URLs. */
const GRAPHIQL_POLICY = `${SCRIPT_POLICY}; worker-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self' data:; img-src 'self' data:`;

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  graphql: 'text/plain; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

const WEB = new URL('../../web/', import.meta.url);
const read: Load = (name) => readFile(new URL(name, WEB));
/** Nine megabytes: imported when the page is first opened. */
const bundle = () => import('@graphql-yoga/render-graphiql/graphiql');
/**
 * What the pages load, by its path below `/assets`: files of `web`, and Yoga's GraphiQL in separate files. Its own page
 * has the nine megabytes inline, which are sent again with every visit and need a policy that allows inline scripts.
 */
const assets = (): readonly (readonly [string, Load])[] => [
  ...globSync('**/*.{css,js,svg}', { cwd: WEB }).map((name) => [name, read] as const),
  ['graphiql/graphiql.js', async () => (await bundle()).js],
  ['graphiql/graphiql.css', async () => (await bundle()).css],
  ['graphiql/editorWorkerService.worker.js', async () => (await bundle()).editorWorkerService],
  ['graphiql/json.worker.js', async () => (await bundle()).jsonWorker],
  ['graphiql/graphql.worker.js', async () => (await bundle()).graphqlWorker],
];

/** GraphiQL, the Live notes page and the schema's text. Everything is served from here. */
export function createPages(schema: GraphQLSchema, { auth, partner }: Config) {
  /** Whether the pages ask for a token before their first request. */
  const needsToken = auth.kind !== 'open';
  /** Live notes says if all people are made up. */
  const data = partner.kind === 'sandbox' ? 'made-up' : 'real';
  async function page(name: string): Promise<string> {
    const html = await readFile(new URL(name, WEB), 'utf8');
    return html
      .replace('data-auth="open"', `data-auth="${needsToken ? 'token' : 'open'}"`)
      .replace('data-data="real"', `data-data="${data}"`)
      .replace(needsToken ? '' : /<p id="token-notice".*?<\/p>/s, '');
  }
  const files = [
    ['/', serveFile('index.html', page)],
    ['/schema.graphql', serveFile('schema.graphql', () => `${printSchema(schema)}\n`)],
    ...assets().map(([name, load]) => [`/assets/${name}`, serveFile(name, load)] as const),
  ] as const;
  return {
    /** For browsers that open the GraphQL endpoint. */
    graphiql: serveFile('graphiql/index.html', page, GRAPHIQL_POLICY),
    /** Exact paths: anything else is not found. */
    routes: files.map(([path, handler]) => [path, { GET: handler, HEAD: handler }] as const),
  };
}

const zip = promisify(gzip);

/** Serves one file: read and compressed at the first request, then 304 for a browser that has it. */
function serveFile(name: string, load: Load, policy = POLICY) {
  async function prepare() {
    const plain = Buffer.from(await load(name));
    // Weak, since it is the same for both encodings.
    const etag = `W/"${hash('sha256', plain, 'base64url').slice(0, 22)}"`;
    return { plain, zipped: await zip(plain), etag };
  }
  let file: Awaited<ReturnType<typeof prepare>> | undefined;

  return async (req: IncomingMessage, res: ServerResponse) => {
    file ??= await prepare();
    const { plain, zipped, etag } = file;
    res.setHeader('content-security-policy', policy).setHeader('referrer-policy', 'no-referrer');
    // Browsers revalidate every time, so that a new release is seen immediately; most responses are 304.
    res.setHeader('cache-control', 'no-cache').setHeader('etag', etag);
    res.setHeader('vary', 'Accept-Encoding');
    const { 'if-none-match': known, 'accept-encoding': accepted = '' } = req.headers;
    if (known === etag) return void res.writeHead(304).end();
    const isZipped = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(accepted);
    if (isZipped) res.setHeader('content-encoding', 'gzip');
    const body = isZipped ? zipped : plain;
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
    // Node leaves out the body of a response to HEAD.
    res.writeHead(200, { 'content-type': type, 'content-length': body.length }).end(body);
  };
}
