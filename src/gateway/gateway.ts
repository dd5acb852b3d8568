import { createVerifier } from '../events/signature.ts';
import { createForgeryLog, createWebhookHandler } from '../events/webhook.ts';
import { createOperationObserver, ingestObserver } from '../observability/observers.ts';
import { steadyNow } from '../clock.ts';
import { createHttpHandler } from './http.ts';
import { createMemoryPressure } from './memory-pressure.ts';
import { createViewerConnections } from './open-connections.ts';
import { createOrigins } from './origins.ts';
import { createAnswerCache } from './plugins/use-answer-cache.ts';
import { createMaskError } from './plugins/use-error-masking.ts';
import { createEventStreams } from './plugins/use-subscriptions.ts';
import { createSubscriptions } from './subscriptions/subscriptions.ts';
import { readTrustedDocuments } from './trusted-documents.ts';
import { createWebSockets } from './websocket/websocket.ts';
import { type GatewayParts, createGatewayYoga } from './yoga.ts';

/** What the server passes in. */
export interface GatewayOptions extends Pick<
  GatewayParts,
  'config' | 'schema' | 'services' | 'authenticator' | 'clock' | 'log' | 'metrics' | 'isServing'
> {
  readonly webhookSecret: string;
  /** Rejects while changes can't be written down. */
  readonly checkAudit: () => Promise<void>;
}

export type Gateway = ReturnType<typeof createGateway>;

/** Joins the parts: HTTP, server-sent events and WebSocket over one list of plugins. */
export function createGateway(options: GatewayOptions) {
  const { config, schema, services, log, metrics } = options;
  const onUnexpected = (error: unknown, requestId?: string) =>
    log.error('unexpected error', { error, requestId });
  const parts: GatewayParts = {
    ...options,
    onUnexpected,
    maskError: createMaskError(onUnexpected),
    observer: createOperationObserver(log, metrics),
    isShortOfMemory: createMemoryPressure(),
    viewers: createViewerConnections(config.limits.socketsPerViewer),
    origins: createOrigins({
      ...config.http,
      onRefused: (origin) =>
        log.warn('a browser was refused: its page is not of an origin in ALLOWED_ORIGINS', {
          origin,
        }),
    }),
    trusted: config.trustedDocuments
      ? readTrustedDocuments(config.trustedDocuments, schema, {
          limits: config.limits,
          introspection: config.http.graphiql,
        })
      : undefined,
  };
  const subscriptions = createSubscriptions(parts);
  const streams = createEventStreams(parts, subscriptions);
  const answers = createAnswerCache(parts);
  const yoga = createGatewayYoga(parts, answers, streams);
  const sockets = createWebSockets(parts, yoga);
  metrics.watch('sockets', () => sockets.open.size);
  metrics.watch('subscriptions', () => subscriptions.size);
  const webhooks = createWebhookHandler({
    maxBytes: config.limits.webhookBytes,
    onForged: createForgeryLog(config.webhook.header, (message) => log.warn(message)),
    log: services.store.log,
    quarantine: services.store.quarantine,
    verify: createVerifier({ ...config.webhook, secret: options.webhookSecret }),
    now: steadyNow,
    applied: services.hub.applied,
    applyCopies: services.invalidation.applyCopies,
    onAccepted: services.invalidation.accepted,
    observer: ingestObserver(log, metrics),
  });

  return {
    handle: createHttpHandler(parts, { yoga, answers, webhooks, checkAudit: options.checkAudit }),
    upgrade: sockets.upgrade,
    /** The event log was lost: its subscribers have to read anew. */
    eventsLost: subscriptions.endOutdated,
    /** Ends all subscriptions and sockets. */
    async endSubscriptions(graceMs: number): Promise<void> {
      await Promise.all([sockets.open.close(graceMs), streams.open.close(graceMs)]);
    },
  };
}
