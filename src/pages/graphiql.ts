import { examples } from './graphiql-examples.ts';
import { type Content, type Handler, serveFile } from './served-file.ts';

const FOLDER = '/assets/graphiql';
const SCRIPT = 'text/javascript; charset=utf-8';

/** Monaco sets styles on elements and brings its fonts along as data; nothing else is let in. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self' data:",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>partner-graph: GraphiQL</title>
    <link rel="icon" href="/assets/icon.svg" />
    <link rel="stylesheet" href="${FOLDER}/graphiql.css" />
    <script src="${FOLDER}/start.js"></script>
    <script src="${FOLDER}/graphiql.js" defer></script>
  </head>
  <body id="body" class="no-focus-outline">
    <noscript>GraphiQL needs JavaScript. The schema is in schema.graphql as well.</noscript>
    <div id="root"></div>
  </body>
</html>
`;

const OPTIONS = {
  title: '<a href="/">Live notes</a>',
  logo: '<img src="/assets/icon.svg" alt="" width="28" height="28">',
  // Over WebSocket, GraphiQL would leave out what stands in its headers editor.
  subscriptionsProtocol: 'SSE',
  // A subscription would go by GET, with its variables in the address.
  method: 'POST',
  // A token is not to be found in the browser's storage when its owner has left.
  shouldPersistHeaders: false,
  defaultTabs: examples,
};

const START = `self.MonacoEnvironment = {
  globalAPI: false,
  getWorkerUrl: (_module, label) => '${FOLDER}/' + label + '.worker.js',
};
document.addEventListener('DOMContentLoaded', () => {
  const options = ${JSON.stringify(OPTIONS)};
  // Without this, what is typed goes into the address, and with it into histories and logs.
  options.onEditQuery = () => {};
  YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), options);
});
`;

/** Nine megabytes: imported when somebody looks. */
const bundle = () => import('@graphql-yoga/render-graphiql/graphiql');
const part =
  (name: 'js' | 'css' | 'editorWorkerService' | 'jsonWorker' | 'graphqlWorker') => async () =>
    Buffer.from((await bundle())[name]);
const text = (content: string) => async () => Buffer.from(content);

/**
 * Yoga's GraphiQL, in pieces: its own page has the nine megabytes inline, to be sent again with every visit, and would
 * need a policy that lets any inline script run.
 */
export const graphiqlPage: Handler = serveFile({
  type: 'text/html; charset=utf-8',
  load: text(PAGE),
  headers: { 'content-security-policy': POLICY },
});

export const graphiqlFiles: Readonly<Record<string, Content>> = {
  [`${FOLDER}/start.js`]: { type: SCRIPT, load: text(START) },
  [`${FOLDER}/graphiql.js`]: { type: SCRIPT, load: part('js') },
  [`${FOLDER}/graphiql.css`]: { type: 'text/css; charset=utf-8', load: part('css') },
  [`${FOLDER}/editorWorkerService.worker.js`]: { type: SCRIPT, load: part('editorWorkerService') },
  [`${FOLDER}/json.worker.js`]: { type: SCRIPT, load: part('jsonWorker') },
  [`${FOLDER}/graphql.worker.js`]: { type: SCRIPT, load: part('graphqlWorker') },
};
