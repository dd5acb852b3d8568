import { createGraphiqlPage, graphiqlFiles } from './graphiql.ts';
import { type PageOptions, liveNotesFiles } from './live-notes.ts';
import { type Handler, serveFile } from './served-file.ts';

export interface Pages {
  /** For browsers that open the GraphQL endpoint. */
  readonly graphiql: Handler;
  /** Exact paths: anything else is not found. */
  readonly routes: readonly (readonly [string, Readonly<Record<string, Handler>>])[];
}

/** GraphiQL and the Live notes page. Everything is served from here. */
export function createPages(options: PageOptions): Pages {
  const files = { ...liveNotesFiles(options), ...graphiqlFiles };
  const graphiqlPage = createGraphiqlPage(options.needsToken);
  return {
    graphiql: graphiqlPage,
    routes: Object.entries(files).map(([path, content]) => {
      const handler = serveFile(content);
      return [path, { GET: handler, HEAD: handler }];
    }),
  };
}
