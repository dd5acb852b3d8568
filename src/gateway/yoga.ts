import type { ServerResponse } from 'node:http';

import { type Plugin, type YogaInitialContext, createYoga } from 'graphql-yoga';

import type { Context, Operation } from '../context.ts';
import type { CodedError } from '../errors.ts';
import { schema } from '../schema/schema.ts';
import type { Viewer } from '../viewer/viewer.ts';
import type { GatewayParts } from './gateway.ts';
import { useDocumentLimits } from './plugins/use-document-limits.ts';
import { useErrorMasking } from './plugins/use-error-masking.ts';
import { useExecution } from './plugins/use-execution.ts';
import { createHttpRequests } from './plugins/use-http-requests.ts';
import { useOperation } from './plugins/use-operation.ts';
import { useSubscriptions } from './plugins/use-subscriptions.ts';
import { useTracing } from './plugins/use-tracing.ts';
import { useUpstreamCost } from './plugins/use-upstream-cost.ts';
import { useViewer } from './plugins/use-viewer.ts';
import type { Sink, Subscription, Subscriptions } from './subscriptions/subscriptions.ts';

/** What the transports and plugins keep in Yoga's context. */
export interface GatewayContext extends Partial<YogaInitialContext> {
  /** Only over HTTP. */
  readonly res?: ServerResponse;
  /** Why there is no viewer: the token is not valid, or can't be verified for now. */
  authError?: CodedError & { readonly reason?: string };
  requestId?: string;
  viewer?: Viewer;
  /** The name of the operation in the document, if it has one, made safe for logs. */
  operationName?: string;
  /** The key of its answer in the answer cache. */
  answerKey?: string;
  operation?: Operation;
  /** What its resolvers get as their context. */
  resolverContext?: Context;
  /** True if its client over WebSocket has completed it or left. */
  isAbandoned?: boolean;
  /** Where the results of a subscription are sent. */
  sink?: Sink;
  /** A subscription that has begun: Yoga sends its events. */
  readonly subscription?: Subscription | undefined;
}

export type HttpContext = GatewayContext & Required<Pick<GatewayContext, 'res'>>;
/** The context while its operation is executed. */
export type ExecutionContext = GatewayContext &
  Required<Pick<GatewayContext, 'operation' | 'resolverContext'>>;
export type GatewayPlugin = Plugin<GatewayContext, HttpContext>;
export type GatewayYoga = ReturnType<typeof createYoga<HttpContext, GatewayContext>>;

/**
 * Yoga with our plugins. Hooks of one phase run in the order of the list: `onRequest` (viewer, HTTP), `onParse` and
 * `onValidate` (document limits), `onExecute` (cost, operation, tracing, execution), `onExecuteDone` (cost, masking,
 * operation, tracing) and `onSubscribe` (cost, operation, subscriptions). Delivered events pass through none of them.
 */
export function createGatewayYoga(parts: GatewayParts, subscriptions: Subscriptions) {
  const { config, maskError } = parts;
  const requests = createHttpRequests(parts);
  const yoga = createYoga<HttpContext, GatewayContext>({
    schema,
    graphiql: false,
    logging: false,
    parserAndValidationCache: false,
    // Yoga also passes a message and a flag, and the second parameter of ours is a request id.
    maskedErrors: { maskError: (error) => maskError(error) },
    cors: parts.origins.cors,
    plugins: [
      useViewer(parts.authenticate),
      requests.plugin,
      useDocumentLimits(config),
      useUpstreamCost(parts),
      useErrorMasking(parts),
      useOperation(parts),
      useTracing(),
      useExecution(),
      useSubscriptions(parts, subscriptions),
    ],
  });
  return { yoga, answerJson: requests.answerJson };
}
