import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import type { ExecutionResult, GraphQLSchema } from 'graphql';

type Results = ExecutionResult | AsyncIterable<ExecutionResult>;

interface Ready {
  /** What the pipeline or the fan-out has for this request; Yoga puts it on the wire. */
  readonly results: Results;
}

/**
 * What Yoga does better than we would: server-sent events. They come in through our own pipeline, so Yoga neither
 * parses nor executes anything.
 */
export function createYogaDoor(schema: GraphQLSchema) {
  let opened: ReturnType<typeof openYoga> | undefined;

  return {
    async stream(results: Results, res: ServerResponse): Promise<void> {
      const yoga = await (opened ??= openYoga(schema));
      const request = new Request('http://localhost/graphql', {
        method: 'POST',
        headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
        body: '{"query":"{__typename}"}',
      });
      await forward(await yoga.fetch(request, { results }), res);
    },
  };
}

/** Loaded when first needed: few clients ever stream a query, and it weighs a seventh of an idle process. */
async function openYoga(schema: GraphQLSchema) {
  const { createYoga } = await import('graphql-yoga');
  return createYoga<Ready>({
    schema,
    graphqlEndpoint: '/graphql',
    logging: false,
    landingPage: false,
    maskedErrors: false,
    multipart: false,
    parserAndValidationCache: false,
    graphiql: false,
    plugins: [
      {
        onParams({ setParamsHandler }: { setParamsHandler: (handler: unknown) => void }) {
          setParamsHandler(({ context }: { context: Ready }) => context.results);
        },
      },
    ],
  });
}

async function forward(response: Response, res: ServerResponse): Promise<void> {
  res.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    'cache-control': 'no-store',
  });
  if (!response.body) {
    res.end();
    return;
  }
  // By iteration: Yoga's streams are its own, which `Readable.fromWeb` does not take.
  const source = Readable.from(response.body as AsyncIterable<Uint8Array>);
  // A client that goes away ends the stream early, which is no failure.
  await pipeline(source, res).catch(() => undefined);
}
