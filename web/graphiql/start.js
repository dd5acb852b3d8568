import { examples } from './examples.js';

self.MonacoEnvironment = {
  globalAPI: false,
  getWorkerUrl: (_module, label) => `/assets/graphiql/${label}.worker.js`,
};

const options = {
  title: '<a href="/">Live notes</a>',
  logo: '<img src="/assets/icon.svg" alt="" width="28" height="28">',
  // Over WebSocket, GraphiQL would not send the headers of its editor.
  subscriptionsProtocol: 'SSE',
  // With GET, a subscription's variables would be in the URL.
  method: 'POST',
  // A token must not stay in the browser's storage.
  shouldPersistHeaders: false,
  defaultTabs: examples,
  // Without this, GraphiQL writes the query into the URL, and from there it gets into histories and logs.
  onEditQuery() {},
};

// After a reload GraphiQL finds the open tab by its text. Without the text, it adds an empty tab.
const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState')) ?? {};
const { query, variables } = tabs?.[activeTabIndex] ?? {};
Object.assign(options, { query: query ?? undefined, variables: variables ?? undefined });

// Only where the server needs a token.
const notice = document.querySelector('#token-notice');
if (notice) {
  let typing;
  options.onSchemaChange = () => notice.remove();
  // The first request for the schema was rejected: repeat it with the headers of the headers editor.
  options.onEditHeaders = (headers) => {
    clearTimeout(typing);
    if (!notice.isConnected || !/"authorization"\s*:\s*"Bearer .+"/i.test(headers)) return;
    typing = setTimeout(() => document.querySelector('[aria-label^="Re-fetch"]')?.click(), 300);
  };
}

// GraphiQL is loaded by the next script.
document.addEventListener('DOMContentLoaded', () =>
  self.YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), options),
);
