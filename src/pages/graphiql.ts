import { examples } from './graphiql-examples.ts';
import { type Content, type Handler, serveFile } from './served-file.ts';

const FOLDER = '/assets/graphiql';
const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/** Monaco sets styles on elements and has its fonts as data URLs. */
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

const TOKEN_NOTICE = `<p id="token-notice" role="status">
      This server needs a token. Open <b>Headers</b> below the query and paste
      <code>{"authorization": "Bearer <i>your token</i>"}</code>. The schema loads as soon as the token is there.
    </p>`;

const pageHtml = (needsToken: boolean) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>GraphiQL · partner-graph</title>
    <link rel="icon" href="/assets/icon.svg" />
    <link rel="stylesheet" href="${FOLDER}/graphiql.css" />
    <link rel="stylesheet" href="${FOLDER}/page.css" />
    <script src="${FOLDER}/start.js"></script>
    <script src="${FOLDER}/graphiql.js" defer></script>
  </head>
  <body class="no-focus-outline">
    <noscript>GraphiQL needs JavaScript. The schema is in schema.graphql as well.</noscript>
    ${needsToken ? TOKEN_NOTICE : ''}
    <div id="root"></div>
  </body>
</html>
`;

const CSS = `
body { display: flex; flex-direction: column; height: 100dvh; margin: 0; }
#root { flex: 1; min-height: 0; }
#root .graphiql-container { height: 100%; min-height: 0; }
#token-notice {
  margin: 0;
  padding: 10px 16px;
  background: #fdf3d8;
  color: #4a3500;
  font: 14px/1.5 system-ui, sans-serif;
}
#token-notice code { overflow-wrap: anywhere; }

/* GraphiQL animates its tabs to their places and leaves an offset behind: at the first press the tab jumps away. */
.graphiql-tab { transform: none !important; }

/* A phone has no room for two columns: the response goes below the query, the documentation over both. */
@media (width < 700px) {
  .graphiql-sessions { margin: 4px !important; }
  .graphiql-sidebar { width: 44px !important; padding: 4px 0 !important; }
  .graphiql-sessions > div:has(> .graphiql-editors) { flex-direction: column; }
  .graphiql-editors { flex: 3 1 0 !important; min-height: 0; }
  .graphiql-response { flex: 2 1 0 !important; min-height: 0; }
  .graphiql-horizontal-drag-bar, .graphiql-logo, .graphiql-plugin:empty { display: none !important; }
  .graphiql-query-editor { padding: 8px !important; }
  .graphiql-main { position: relative; min-width: 0; }
  .graphiql-plugin { position: absolute; inset: 0; z-index: 20; background: hsl(var(--color-base)); }
}
`;

const OPTIONS = {
  title: '<a href="/">Live notes</a>',
  logo: '<img src="/assets/icon.svg" alt="" width="28" height="28">',
  // Over WebSocket, GraphiQL would not send its headers editor.
  subscriptionsProtocol: 'SSE',
  // With GET, a subscription's variables would be in the address.
  method: 'POST',
  // A token must not stay in the browser's storage.
  shouldPersistHeaders: false,
  defaultTabs: examples,
};

const START = `self.MonacoEnvironment = {
  globalAPI: false,
  getWorkerUrl: (_module, label) => '${FOLDER}/' + label + '.worker.js',
};
document.addEventListener('DOMContentLoaded', () => {
  const options = ${JSON.stringify(OPTIONS)};
  // Without this, GraphiQL writes the query into the address, and from there it gets into histories and logs.
  options.onEditQuery = () => {};
  // After a reload GraphiQL finds the tab that was open by its text. Without it, it adds an empty tab.
  const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState')) ?? {};
  const { query, variables } = tabs?.[activeTabIndex] ?? {};
  Object.assign(options, { query: query ?? undefined, variables: variables ?? undefined });
  const notice = document.querySelector('#token-notice');
  if (notice) {
    let typing;
    options.onSchemaChange = () => notice.remove();
    // The first request for the schema was rejected: it is repeated with what is in the headers editor.
    options.onEditHeaders = (headers) => {
      clearTimeout(typing);
      if (!notice.isConnected || !/"authorization"\\s*:\\s*"Bearer .+"/i.test(headers)) return;
      typing = setTimeout(() => document.querySelector('[aria-label^="Re-fetch"]')?.click(), 300);
    };
  }
  YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), options);
});
`;

/** Nine megabytes: imported when the page is first opened. */
const bundle = () => import('@graphql-yoga/render-graphiql/graphiql');
const part =
  (name: 'js' | 'css' | 'editorWorkerService' | 'jsonWorker' | 'graphqlWorker') => async () =>
    Buffer.from((await bundle())[name]);
const text = (content: string) => async () => Buffer.from(content);

/**
 * Yoga's GraphiQL in separate files. Its own page has the nine megabytes inline, which are sent again with every visit
 * and need a policy that allows inline scripts.
 */
export const createGraphiqlPage = (needsToken: boolean): Handler =>
  serveFile({
    type: 'text/html; charset=utf-8',
    load: text(pageHtml(needsToken)),
    headers: { 'content-security-policy': POLICY },
  });

export const graphiqlFiles: Readonly<Record<string, Content>> = {
  [`${FOLDER}/start.js`]: { type: SCRIPT, load: text(START) },
  [`${FOLDER}/page.css`]: { type: STYLE, load: text(CSS) },
  [`${FOLDER}/graphiql.js`]: { type: SCRIPT, load: part('js') },
  [`${FOLDER}/graphiql.css`]: { type: STYLE, load: part('css') },
  [`${FOLDER}/editorWorkerService.worker.js`]: { type: SCRIPT, load: part('editorWorkerService') },
  [`${FOLDER}/json.worker.js`]: { type: SCRIPT, load: part('jsonWorker') },
  [`${FOLDER}/graphql.worker.js`]: { type: SCRIPT, load: part('graphqlWorker') },
};
