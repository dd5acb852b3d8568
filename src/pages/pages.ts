import type { IncomingMessage, ServerResponse } from 'node:http';

import { createGraphiqlPage, graphiqlFiles } from './graphiql.ts';
import { type PageOptions, liveNotesFiles } from './live-notes.ts';
import { type Handler, serveFile } from './served-file.ts';

export interface Pages {
  /** The handler of `GET /graphql`: GraphiQL for browsers, `otherwise` for programs. */
  readonly graphiql: (otherwise: (res: ServerResponse) => void) => Record<string, Handler>;
  /** Exact paths: anything else is not found. */
  readonly routes: readonly {
    readonly path: string;
    readonly methods: Readonly<Record<string, Handler>>;
  }[];
}

/** GraphiQL and the Live notes page. Everything is served from here. */
export function createPages(options: PageOptions): Pages {
  const files = { ...liveNotesFiles(options), ...graphiqlFiles };
  const graphiqlPage = createGraphiqlPage(options.needsToken);
  return {
    graphiql: (otherwise) => {
      const GET = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
        // A program that sends an operation by GET gets an error instead of a page.
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
