import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

import type { ExecutionResult, GraphQLSchema } from 'graphql';

import type { Config } from './config.ts';
import type { House } from './context.ts';
import { createForgeryLog } from './events/forgery-log.ts';
import { createIngest } from './events/ingest.ts';
import { createVerifier } from './events/signature.ts';
import { createWebhookDoor } from './events/webhook-door.ts';
import { ingestObserver } from './observability/ingest-observer.ts';
import type { Log } from './observability/log.ts';
import type { Metrics } from './observability/metrics.ts';
import { createOperationObserver } from './observability/operation-observer.ts';
import { createPages } from './pages/pages.ts';
import type { Clock } from './rest/clock.ts';
import { steadyNow } from './steady-clock.ts';
import { answerText } from './gateway/answer-text.ts';
import { createCors } from './gateway/cors.ts';
import { createEventStreams } from './gateway/event-stream.ts';
import { createFanOut } from './gateway/fan-out.ts';
import { createHealth } from './gateway/health.ts';
import { createJsonDoor } from './gateway/json-door.ts';
import { type Prepared, createPipeline } from './gateway/pipeline.ts';
import { createPressure } from './gateway/pressure.ts';
import { createRouter, notAllowed } from './gateway/router.ts';
import { createWsDoor } from './gateway/ws-door.ts';
import { createSocketCount } from './gateway/ws-limits.ts';
import { traceFields } from './gateway/trace-fields.ts';
import { createYogaDoor } from './gateway/yoga-door.ts';
import type { Authenticator } from './viewer/authenticate.ts';
import { createSeats } from './viewer/seats.ts';
import type { Viewer } from './viewer/viewer.ts';

export interface AppParts {
  readonly config: Config;
  readonly schema: GraphQLSchema;
  readonly house: House;
  readonly authenticator: Authenticator;
  readonly webhookSecret: string;
  /** The same that the Partner API's answers expire by. */
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Rejects while changes can't be written down. */
  readonly checkAudit: () => Promise<void>;
  /** False once the process is on its way out. */
  readonly isServing: () => boolean;
}

export interface App {
  readonly handle: (req: IncomingMessage, res: ServerResponse) => void;
  readonly upgrade: (req: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Live subscribers may have missed something: they have to resume by their cursors. */
  readonly eventsLost: () => void;
  /** Sends away whoever is subscribed. */
  readonly endSubscriptions: (graceMs: number) => Promise<void>;
}

/** Joins the parts into one HTTP handler: every door, one pipeline. */
export function createApp(parts: AppParts): App {
  const { config, schema, house, log, metrics } = parts;
  traceFields(schema);
  const onMasked = (error: unknown) => log.error('unexpected error', { error });
  const { limits, operation } = config;
  const observe = createOperationObserver(log, metrics);

  const pipeline = createPipeline({
    schema,
    house,
    limits: { ...limits, ...operation },
    introspection: config.http.graphiql,
    now: parts.clock.now,
    onFinished: observe.finished,
    onRepeated: observe.repeated,
    onMasked,
  });
  const fanOut = createFanOut({
    house,
    maxUpstreamCalls: operation.maxUpstreamCalls,
    operationMs: limits.operationMs,
    onDelivered: metrics.eventsDelivered,
    onMasked,
  });
  const pressure = createPressure();
  const yoga = createYogaDoor(schema);
  const cors = createCors(config.http.allowedOrigins);

  const onSlow = () => metrics.slowConsumerClosed();
  const viewers = createSocketCount(limits.socketsPerViewer);
  const onRefused = observe.refused;
  const streams = createEventStreams({ fanOut, limits, viewers, onRefused, onSlow });
  const stream = async (prepared: Prepared, viewer: Viewer, res: ServerResponse) => {
    if (prepared.kind === 'subscription')
      return streams.follow(res, { prepared, viewer, door: 'sse' });
    const answer = await pipeline.execute(prepared, viewer, 'sse').answer;
    await yoga.stream(JSON.parse(answerText(answer)) as ExecutionResult, res);
  };
  const sockets = createWsDoor({
    schema,
    pipeline,
    fanOut,
    limits,
    authenticate: parts.authenticator.authenticate,
    allowedOrigins: config.http.allowedOrigins,
    viewers,
    isServing: () => parts.isServing() && !pressure.isHigh(),
    onRefused,
    onSlow,
    onMasked,
  });
  metrics.watch('sockets', () => sockets.live.size);
  metrics.watch('subscriptions', () => fanOut.size);
  const graphql = createJsonDoor({
    pipeline,
    seatOf: createSeats(parts.authenticator, parts.clock),
    maxBytes: limits.bodyBytes,
    onRefused,
    now: parts.clock.now,
    stream,
  });
  const webhooks = createWebhookDoor({
    maxBytes: limits.webhookBytes,
    onForged: createForgeryLog(config.webhook.header, (message) => log.warn(message)),
    ingest: createIngest({
      log: house.store.log,
      quarantine: house.store.quarantine,
      verify: createVerifier({ ...config.webhook, secret: parts.webhookSecret }),
      now: steadyNow,
      onAccepted: house.freshness.accepted,
      observer: ingestObserver(log, metrics),
    }),
  });
  const health = createHealth({
    checks: {
      partner: () => house.partner.check(),
      eventLog: () => house.store.check(),
      audit: parts.checkAudit,
    },
    isServing: parts.isServing,
    metricsText: metrics.text,
    metricsType: metrics.contentType,
    metricsToken: config.http.metricsToken,
  });

  const post = pressure.shed((req, res) => {
    cors.allow(req, res);
    return graphql(req, res);
  });
  const pages = config.http.graphiql
    ? createPages({
        needsToken: config.auth.kind !== 'open',
        isSandbox: config.partner.kind === 'sandbox',
      })
    : undefined;
  const ide = pages?.graphiql((res) => notAllowed(res, ['POST']));

  return {
    upgrade: sockets.upgrade,
    eventsLost() {
      sockets.live.endAll('lost');
      streams.live.endAll('lost');
    },
    async endSubscriptions(graceMs) {
      await Promise.all([sockets.live.close(graceMs), streams.live.close(graceMs)]);
    },
    handle: createRouter({
      routes: [
        { path: '/graphql', methods: { POST: post, OPTIONS: cors.preflight, ...ide } },
        { path: '/webhooks', methods: { POST: webhooks } },
        { path: '/healthz', methods: { GET: health.alive } },
        { path: '/readyz', methods: { GET: health.ready } },
        { path: '/metrics', methods: { GET: health.metrics } },
        ...(pages?.routes ?? []),
      ],
      onFailure: onMasked,
    }),
  };
}
