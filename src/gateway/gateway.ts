import type { ServerResponse } from 'node:http';

import { steadyNow } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Services } from '../context.ts';
import { createWebhookHandler } from '../events/webhook.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createLimitedLog, createOperationObserver } from '../observability/observers.ts';
import type { Authenticate } from '../viewer/authenticate.ts';
import { createHttpHandler } from './http.ts';
import { createMemoryPressure } from './memory-pressure.ts';
import { createOpenConnections } from './open-connections.ts';
import { createOrigins } from './origins.ts';
import { createErrorMasking } from './plugins/use-error-masking.ts';
import { createSubscriptions } from './subscriptions/subscriptions.ts';
import { createDocumentReader } from './trusted-documents.ts';
import { createWebSockets } from './websocket/websocket.ts';
import { type GatewayContext, createGatewayYoga } from './yoga.ts';

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
  return {
    ...options,
    ...createErrorMasking(log, config.operation.maxUpstreamCalls),
    observer: createOperationObserver(log, metrics),
    isShortOfMemory: createMemoryPressure(() =>
      writeLimited('error', 'short of memory: queries and sockets are rejected'),
    ),
    connections: createOpenConnections(config.limits),
    origins: createOrigins(config.http, log),
    documentOf: createDocumentReader(config),
    /** Contexts of running operations. A Set keeps deleted entries in old tables: a note takes 1.16 times the CPU. */
    runningContexts: [] as GatewayContext[],
  };
}

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
