import type { ServerResponse } from 'node:http';

import type { Plugin, YogaInitialContext, YogaServerInstance } from 'graphql-yoga';

import { steadyNow } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Context, Operation, Services } from '../context.ts';
import type { CodedError } from '../errors.ts';
import { createWebhookHandler } from '../events/webhook.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createLimitedLog, createOperationObserver } from '../observability/observers.ts';
import type { Authenticate } from '../viewer/authenticate.ts';
import type { Viewer } from '../viewer/viewer.ts';
import { createHttpHandler } from './http.ts';
import { createMemoryPressure } from './memory-pressure.ts';
import { createOpenConnections } from './open-connections.ts';
import { createOrigins } from './origins.ts';
import { createErrorMasking } from './plugins/use-error-masking.ts';
import type { Sink, Subscription } from './subscriptions/subscriptions.ts';
import { createSubscriptions } from './subscriptions/subscriptions.ts';
import { createDocumentReader } from './trusted-documents.ts';
import { createWebSockets } from './websocket/websocket.ts';
import { createGatewayYoga } from './yoga.ts';

export interface GatewayOptions {
  readonly config: Config;
  readonly services: Services;
  readonly authenticate: Authenticate;
  readonly webhookSecret: string;
  readonly log: Log;
  readonly metrics: Metrics;
  /** False once the process is ending. */
  readonly isServing: () => boolean;
}

export type GatewayParts = ReturnType<typeof createParts>;
export type Gateway = ReturnType<typeof createGateway>;

function createParts(options: GatewayOptions) {
  const { config, log, metrics } = options;
  const writeLimited = createLimitedLog(log, 60_000);
  const onRefused = () => writeLimited('warn', 'connections refused: too many are open');
  return {
    ...options,
    onRefused,
    ...createErrorMasking(log, config.operation.maxUpstreamCalls),
    observer: createOperationObserver(log, metrics),
    isShortOfMemory: createMemoryPressure(() =>
      writeLimited('error', 'short of memory: queries and sockets are rejected'),
    ),
    connections: createOpenConnections(config, onRefused),
    origins: createOrigins(config.http, log),
    documentOf: createDocumentReader(config),
    /** Contexts of running operations. A Set keeps deleted entries in old tables: a note takes 1.16 times the CPU. */
    runningContexts: [] as GatewayContext[],
  };
}

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
  readonly subscription?: Subscription;
}

export type HttpContext = GatewayContext & Required<Pick<GatewayContext, 'res'>>;
/** The context while its operation is executed. */
export type ExecutionContext = GatewayContext &
  Required<Pick<GatewayContext, 'operation' | 'resolverContext'>>;
export type GatewayPlugin = Plugin<GatewayContext, HttpContext>;
export type GatewayYoga = YogaServerInstance<HttpContext, GatewayContext>;

/** HTTP, server-sent events and WebSocket over one list of plugins. */
export function createGateway(options: GatewayOptions) {
  const { config, services, log, metrics } = options;
  const parts = createParts(options);
  const subscriptions = createSubscriptions(parts);
  const graphql = createGatewayYoga(parts, subscriptions);
  const webhooks = createWebhookHandler({
    maxBytes: config.limits.webhookBytes,
    store: services.store,
    signature: { ...config.webhook, secret: options.webhookSecret },
    now: steadyNow,
    whenApplied: services.hub.whenApplied,
    applyEverywhere: services.invalidation.applyEverywhere,
    onAccepted: services.places.recordEvent,
    log,
    metrics,
  });

  return {
    onRefused: parts.onRefused,
    handle: createHttpHandler(parts, graphql, webhooks),
    upgrade: createWebSockets(parts, graphql.yoga),
    /** Called when the event log was lost: its subscribers have to read their data anew. */
    eventsLost: subscriptions.endAll,
    /** Queries and mutations on sockets are answered first. */
    closeSocketsAndStreams: parts.connections.close,
    /** Called when a client leaves before its response is sent. A write that was sent goes on. */
    abortReads(res: ServerResponse): void {
      parts.runningContexts.find((each) => each.res === res)?.resolverContext?.usage.end();
    },
    hasRunningOperations: () => parts.runningContexts.length > 0,
    async endCalls(): Promise<void> {
      for (const { resolverContext } of parts.runningContexts) resolverContext?.usage.end();
      await services.partner[Symbol.asyncDispose]();
    },
  };
}
