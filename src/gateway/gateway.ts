import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import type { GraphQLSchema } from 'graphql';

import type { Config } from '../config.ts';
import type { Services } from '../context.ts';
import { createVerifier } from '../events/signature.ts';
import { createWebhookHandler } from '../events/webhook.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createOperationObserver, ingestObserver } from '../observability/observers.ts';
import { createPages } from '../pages/pages.ts';
import { type Clock, steadyNow } from '../clock.ts';
import type { Authenticator } from '../viewer/authenticate.ts';
import { createHttpHandler } from './http.ts';
import { createMemoryPressure } from './memory-pressure.ts';
import { createOrigins } from './origins.ts';
import { createAnswerCache } from './plugins/use-answer-cache.ts';
import { createMaskError } from './plugins/use-error-masking.ts';
import { createSseStreams } from './subscriptions/sse-streams.ts';
import { createSubscriptions } from './subscriptions/subscriptions.ts';
import { readTrustedDocuments } from './trusted-documents.ts';
import { createViewerConnections } from './open-connections.ts';
import { createWebSockets } from './websocket/websocket.ts';
import { createGatewayYoga } from './yoga.ts';

export interface GatewayParts {
  readonly config: Config;
  readonly schema: GraphQLSchema;
  readonly services: Services;
  readonly authenticator: Authenticator;
  readonly webhookSecret: string;
  /** The same that the Partner API's answers expire by. */
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Rejects while changes can't be written down. */
  readonly checkAudit: () => Promise<void>;
  /** False once the process is ending. */
  readonly isServing: () => boolean;
}

export interface Gateway {
  readonly handle: (req: IncomingMessage, res: ServerResponse) => void;
  readonly upgrade: (req: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** The event log was lost: its subscribers have to read anew. */
  readonly eventsLost: () => void;
  /** Ends all subscriptions and sockets. */
  readonly endSubscriptions: (graceMs: number) => Promise<void>;
}

/** Joins the parts: HTTP, server-sent events and WebSocket over one list of plugins. */
export function createGateway(parts: GatewayParts): Gateway {
  const { config, schema, services, log, metrics, authenticator, clock } = parts;
  const { limits, operation, http } = config;
  const onUnexpected = (error: unknown, requestId?: string) =>
    log.error('unexpected error', { error, requestId });
  const onSlow = () => metrics.slowConsumerClosed();
  const maskError = createMaskError(onUnexpected);
  const isShortOfMemory = createMemoryPressure();
  const viewers = createViewerConnections(limits.socketsPerViewer);
  const subscriptions = createSubscriptions({
    ...operation,
    services,
    operationMs: limits.operationMs,
    maskError,
    onDelivered: metrics.eventsDelivered,
    onUnexpected,
  });
  const streams = createSseStreams({ limits, viewers, onSlow });
  const viewerOf = (_connection: object, authorization: string | undefined) =>
    authenticator.authenticate(authorization);
  const observer = createOperationObserver(log, metrics);
  const origins = createOrigins({
    ...http,
    onRefused: (origin) =>
      log.warn('a browser was refused: its page is not of an origin in ALLOWED_ORIGINS', {
        origin,
      }),
  });
  const answers = createAnswerCache({
    viewerOf,
    origins,
    bodyBytes: limits.bodyBytes,
    audit: services.audit,
    partner: services.partner,
    repeated: observer.repeated,
    now: clock.now,
  });
  const trusted = config.trustedDocuments
    ? readTrustedDocuments(config.trustedDocuments, schema, {
        limits,
        introspection: http.graphiql,
      })
    : undefined;
  const yoga = createGatewayYoga({
    config,
    schema,
    services,
    viewerOf,
    subscriptions,
    streams,
    observer,
    maskError,
    origins,
    onRejected: observer.rejected,
    answers,
    trusted,
  });
  const sockets = createWebSockets({
    yoga,
    trusted,
    authenticate: authenticator.authenticate,
    limits,
    origins,
    onRejected: observer.rejected,
    viewers,
    isServing: () => parts.isServing() && !isShortOfMemory(),
    maskError,
    onSlow,
  });
  metrics.watch('sockets', () => sockets.open.size);
  metrics.watch('subscriptions', () => subscriptions.size);

  return {
    upgrade: sockets.upgrade,
    eventsLost: subscriptions.endOutdated,
    async endSubscriptions(graceMs) {
      await Promise.all([sockets.open.close(graceMs), streams.open.close(graceMs)]);
    },
    handle: createHttpHandler({
      yoga,
      answers,
      webhooks: webhooksOf(parts),
      pages: http.graphiql
        ? createPages({
            schema,
            needsToken: config.auth.kind !== 'open',
            isSandbox: config.partner.kind === 'sandbox',
          })
        : undefined,
      checks: {
        partner: () => services.partner.check(),
        eventLog: () => services.store.check(),
        audit: parts.checkAudit,
      },
      isServing: parts.isServing,
      isShortOfMemory,
      metrics,
      metricsToken: http.metricsToken,
      origins,
      onRejected: observer.rejected,
      onUnexpected,
    }),
  };
}

function webhooksOf({ config, services, log, metrics, webhookSecret }: GatewayParts) {
  return createWebhookHandler({
    maxBytes: config.limits.webhookBytes,
    log: services.store.log,
    quarantine: services.store.quarantine,
    verify: createVerifier({ ...config.webhook, secret: webhookSecret }),
    now: steadyNow,
    applied: services.hub.applied,
    applyCopies: services.invalidation.applyCopies,
    onAccepted: services.invalidation.accepted,
    observer: ingestObserver(log, metrics, config.webhook.header),
  });
}
