import type { IncomingMessage, ServerResponse } from 'node:http';

import { graphiqlFiles, graphiqlPage } from './graphiql.ts';
import { liveNotesFiles } from './live-notes.ts';
import { type Handler, serveFile } from './served-file.ts';

export interface Pages {
  /** For browsers that open the endpoint itself; `otherwise` answers programs. */
  readonly graphiql: (otherwise: (res: ServerResponse) => void) => Record<string, Handler>;
  /** Exact paths: whatever is not in this list is not there, however it is spelled. */
  readonly routes: readonly {
    readonly path: string;
    readonly methods: Readonly<Record<string, Handler>>;
  }[];
}

/** What people look at: GraphiQL and the live notes. Everything comes from this server. */
export function createPages(needsToken: boolean): Pages {
  const files = { ...liveNotesFiles(needsToken), ...graphiqlFiles };
  return {
    graphiql: (otherwise) => {
      const GET = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
        // A program that sends its operation by GET must hear that this is not the way.
        if (!req.headers.accept?.includes('text/html')) return otherwise(res);
        await graphiqlPage(req, res);
      };
      return { GET };
    },
    routes: Object.entries(files).map(([path, content]) => {
      const handler = serveFile(content);
      return { path, methods: { GET: handler, HEAD: handler } };
    }),
  };
}
