import type { IncomingMessage, ServerResponse } from 'node:http';

import type { GraphQLSchema, ValidatedExecutionArgs } from 'graphql';
import {
  type Plugin,
  type YogaInitialContext,
  type YogaServerInstance,
  createYoga,
} from 'graphql-yoga';

import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Context, Services, Transport } from '../context.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { createOperationObserver } from '../observability/observers.ts';
import type { Authenticator } from '../viewer/authenticate.ts';
import type { Viewer } from '../viewer/viewer.ts';
import type { ClientError } from './client-error.ts';
import type { ViewerConnections } from './open-connections.ts';
import { type Origins, corsOf } from './origins.ts';
import type { AnswerCache } from './plugins/use-answer-cache.ts';
import { useDocumentLimits } from './plugins/use-document-limits.ts';
import { type MaskError, useErrorMasking } from './plugins/use-error-masking.ts';
import {
  useAudit,
  useExecution,
  useOperationContext,
  useOperationLog,
} from './plugins/use-execution.ts';
import { useHttpRequests } from './plugins/use-http-requests.ts';
import type { EventStreams } from './plugins/use-subscriptions.ts';
import { useTracing } from './plugins/use-tracing.ts';
import { useUpstreamCost } from './plugins/use-upstream-cost.ts';
import { useViewer } from './plugins/use-viewer.ts';
import type { Subscription } from './subscriptions/subscription.ts';
import type { TrustedDocuments } from './trusted-documents.ts';

/** What the transports and plugins share. */
export interface GatewayParts {
  readonly config: Config;
  readonly schema: GraphQLSchema;
  readonly services: Services;
  readonly authenticator: Authenticator;
  /** The same that the Partner API's answers expire by. */
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** False once the process is ending. */
  readonly isServing: () => boolean;
  readonly isShortOfMemory: () => boolean;
  readonly observer: ReturnType<typeof createOperationObserver>;
  readonly maskError: MaskError;
  readonly onUnexpected: (error: unknown, requestId?: string) => void;
  readonly origins: Origins;
  readonly viewers: ViewerConnections;
  /** Undefined: any document may run. */
  readonly trusted: TrustedDocuments | undefined;
}

/** One operation that may be executed: valid, and within every limit. */
export interface Operation {
  /** Unique, for finding its log lines. */
  readonly id: string;
  readonly requestId: string | undefined;
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly name: string | undefined;
  /** Its worst case in upstream calls. */
  readonly estimated: number;
  readonly args: ValidatedExecutionArgs;
  readonly startedAt: number;
}

/** What the transports and plugins keep in Yoga's context. The resolvers' own context is added when executing. */
export interface GatewayContext extends Partial<YogaInitialContext> {
  /** Only over HTTP. */
  readonly req?: IncomingMessage;
  readonly res?: ServerResponse;
  body?: string;
  unauthenticated?: ClientError;
  requestId?: string;
  requester?: Viewer;
  transport?: Transport;
  operation?: Operation | undefined;
  /** What `subscribe` returned, before Yoga wraps it. */
  subscription?: Subscription;
}

export interface HttpContext extends GatewayContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

export type ExecutionContext = GatewayContext & Context & { readonly operation: Operation };
export type GatewayPlugin = Plugin<GatewayContext, HttpContext>;
export type GatewayYoga = YogaServerInstance<HttpContext, GatewayContext>;

/** Everything that is done with an operation, in order. */
export function createGatewayYoga(
  parts: GatewayParts,
  answers: AnswerCache,
  streams: EventStreams,
): GatewayYoga {
  const { config, schema, services, maskError } = parts;
  const introspection = config.http.graphiql;
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
      useViewer(parts.authenticator),
      useHttpRequests(parts),
      useDocumentLimits({ limits: config.limits, introspection }),
      answers.plugin,
      useErrorMasking(maskError),
      useUpstreamCost({ ...config.operation, cursors: services.cursors, introspection }),
      useOperationContext(parts),
      useAudit(),
      useOperationLog(parts.observer),
      useTracing(schema),
      useExecution(),
      streams.plugin,
    ],
  });
}
