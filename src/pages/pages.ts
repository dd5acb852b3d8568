import type { IncomingMessage, ServerResponse } from 'node:http';

import { graphiqlFiles, graphiqlPage } from './graphiql.ts';
import { type PageOptions, liveNotesFiles } from './live-notes.ts';
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

/** GraphiQL and the Live notes page. Everything is served from here. */
export function createPages(options: PageOptions): Pages {
  const files = { ...liveNotesFiles(options), ...graphiqlFiles };
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
