import { type GraphQLSchema, printSchema } from 'graphql';

import { createGraphiqlPage, graphiqlFiles } from './graphiql.ts';
import { type PageOptions, liveNotesFiles } from './live-notes.ts';
import { type Content, type Handler, serveFile } from './served-file.ts';

export interface Pages {
  /** For browsers that open the GraphQL endpoint. */
  readonly graphiql: Handler;
  /** Exact paths: anything else is not found. */
  readonly routes: readonly (readonly [string, Readonly<Record<string, Handler>>])[];
}

/** GraphiQL, the Live notes page and the schema's text. Everything is served from here. */
export function createPages(options: PageOptions & { readonly schema: GraphQLSchema }): Pages {
  const schemaFile: Content = {
    type: 'text/plain; charset=utf-8',
    load: async () => Buffer.from(`${printSchema(options.schema)}\n`),
  };
  const files: Readonly<Record<string, Content>> = {
    ...liveNotesFiles(options),
    ...graphiqlFiles,
    '/schema.graphql': schemaFile,
  };
  const graphiqlPage = createGraphiqlPage(options.needsToken);
  return {
    graphiql: graphiqlPage,
    routes: Object.entries(files).map(([path, content]) => {
      const handler = serveFile(content);
      return [path, { GET: handler, HEAD: handler }];
    }),
  };
}
