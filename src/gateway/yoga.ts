import type { IncomingMessage, ServerResponse } from 'node:http';

import type { GraphQLSchema } from 'graphql';
import { type CORSOptions, type Plugin, type YogaServerInstance, createYoga } from 'graphql-yoga';

import type { Config } from '../config.ts';
import type { Services } from '../context.ts';
import type { createOperationObserver } from '../observability/observers.ts';
import type { GatewayContext } from './context.ts';
import type { Origins } from './origins.ts';
import type { AnswerCache } from './plugins/use-answer-cache.ts';
import { useAudit } from './plugins/use-audit.ts';
import { useDocumentLimits } from './plugins/use-document-limits.ts';
import { type MaskError, useErrorMasking } from './plugins/use-error-masking.ts';
import { useExecution } from './plugins/use-execution.ts';
import { useJsonPosts } from './plugins/use-json-posts.ts';
import { useOperationContext } from './plugins/use-operation-context.ts';
import { useOperationLog } from './plugins/use-operation-log.ts';
import { type OnRejected, useRequestLimits } from './plugins/use-request-limits.ts';
import { useSubscriptions } from './plugins/use-subscriptions.ts';
import { useTracing } from './plugins/use-tracing.ts';
import { useUpstreamCost } from './plugins/use-upstream-cost.ts';
import { type ViewerOf, useViewer } from './plugins/use-viewer.ts';
import { REQUEST_ID_HEADER } from './request-id.ts';
import type { SseStreams } from './subscriptions/sse-streams.ts';
import type { Subscriptions } from './subscriptions/subscriptions.ts';
import type { TrustedDocuments } from './trusted-documents.ts';

export interface HttpContext extends GatewayContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

export type GatewayPlugin = Plugin<GatewayContext, HttpContext>;
export type GatewayYoga = YogaServerInstance<HttpContext, GatewayContext>;

export interface YogaParts {
  readonly config: Config;
  readonly schema: GraphQLSchema;
  readonly services: Services;
  readonly viewerOf: ViewerOf;
  readonly subscriptions: Subscriptions;
  readonly streams: SseStreams;
  readonly observer: ReturnType<typeof createOperationObserver>;
  readonly maskError: MaskError;
  readonly origins: Origins;
  readonly onRejected: OnRejected;
  readonly answers: AnswerCache;
  /** Undefined: any document may run. */
  readonly trusted: TrustedDocuments | undefined;
}

/** Everything that is done with an operation, in order. */
export function createGatewayYoga(parts: YogaParts): GatewayYoga {
  const { config, schema, services, observer, maskError } = parts;
  const { limits, operation, http } = config;
  const { bodyBytes } = limits;
  const { onRejected } = parts;
  return createYoga<HttpContext, GatewayContext>({
    schema,
    graphiql: false,
    landingPage: false,
    logging: false,
    multipart: false,
    maxRequestBodySize: false,
    parserAndValidationCache: false,
    // Yoga passes more arguments, which mean something else.
    maskedErrors: { maskError: (error) => maskError(error) },
    cors: corsOf(parts.origins),
    plugins: [
      useRequestLimits({ bodyBytes, trusted: parts.trusted, onRejected }),
      useViewer(parts.viewerOf),
      parts.answers.plugin,
      useJsonPosts({ bodyBytes, trusted: parts.trusted, maskError }),
      useDocumentLimits({ limits, introspection: http.graphiql }),
      useErrorMasking(maskError),
      useUpstreamCost({ ...operation, cursors: services.cursors, introspection: http.graphiql }),
      useOperationContext({ ...operation, services, operationMs: limits.operationMs }),
      useAudit(),
      useOperationLog(observer),
      useTracing(schema),
      useExecution(),
      useSubscriptions(parts.subscriptions, parts.streams),
    ],
  });
}

/** How long a browser may cache the answer to its preflight. */
const MAX_AGE_SECONDS = 600;

const ALLOWED_HEADERS = [
  'authorization',
  'content-type',
  REQUEST_ID_HEADER,
  'traceparent',
  'tracestate',
  'apollographql-client-name',
  'apollographql-client-version',
];

/** For responses that don't go through Yoga. */
export function corsHeadersOf(
  { isAllowed }: Origins,
  origin: string | undefined,
): Record<string, string> {
  if (origin === undefined || !isAllowed(origin)) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': REQUEST_ID_HEADER,
    vary: 'Origin',
  };
}

function corsOf({ isAllowed }: Origins) {
  return ({ headers }: Request): CORSOptions => {
    const origin = headers.get('origin');
    if (origin === null || !isAllowed(origin)) return false;
    return {
      // With more than one in the list, Yoga also says that the answer varies by origin.
      origin: [origin, origin],
      methods: ['POST'],
      allowedHeaders: ALLOWED_HEADERS,
      exposedHeaders: [REQUEST_ID_HEADER],
      credentials: false,
      maxAge: MAX_AGE_SECONDS,
    };
  };
}
