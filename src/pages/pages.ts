import { graphiqlFiles, graphiqlPage } from './graphiql.ts';
import { liveNotesFiles } from './live-notes.ts';
import { type Handler, serveFile } from './served-file.ts';

export interface Pages {
  /** For browsers that open the GraphQL endpoint. */
  readonly graphiql: Handler;
  /** By exact path: whatever is not in this list is not there, however it is spelled. */
  readonly routes: readonly (readonly [string, Readonly<Record<string, Handler>>])[];
}

/** What people look at: GraphiQL and the live notes. Everything comes from this server. */
export function createPages(needsToken: boolean): Pages {
  const files = { ...liveNotesFiles(needsToken), ...graphiqlFiles };
  return {
    graphiql: graphiqlPage,
    routes: Object.entries(files).map(([path, content]) => {
      const handler = serveFile(content);
      return [path, { GET: handler, HEAD: handler }];
    }),
  };
}
