import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { boundedLabel } from './bounded-label.ts';
import { createHistogram } from './histogram.ts';
import { operationName, plainText } from './safe-text.ts';

export type WebhookRefusal = 'signature' | 'malformed' | 'too_large' | 'encoding' | 'unavailable';

/** What is read when the metrics are, from whoever knows it. Undefined: not known now, so not shown. */
export type GaugeName = keyof typeof GAUGES;

/** Functions only, so that the other rooms are handed what they count with and know nothing of Prometheus. */
export interface Metrics {
  readonly operation: (name: string | undefined, outcome: string, durationMs: number) => void;
  /** `status` is the answer's, or a code where there was no answer. `route` is the template. */
  readonly upstreamCall: (route: string, status: number | string, durationMs: number) => void;
  readonly cacheHit: (count?: number) => void;
  readonly coalesced: (count?: number) => void;
  readonly retried: (count?: number) => void;
  readonly eventsAccepted: (count?: number) => void;
  readonly eventCopies: (count?: number) => void;
  readonly eventsQuarantined: (count?: number) => void;
  readonly eventsPoisonous: (count?: number) => void;
  readonly eventsDelivered: (count?: number) => void;
  readonly webhookRefused: (reason: WebhookRefusal) => void;
  readonly slowConsumerClosed: (count?: number) => void;
  readonly watch: (gauge: GaugeName, read: () => number | undefined) => void;
  readonly contentType: string;
  readonly text: () => Promise<string>;
}

const GAUGES = {
  upstreamQueue: ['partner_queue_depth', 'Calls that wait for a free connection.'],
  upstreamInFlight: ['partner_calls_in_flight', 'Calls under way.'],
  tokenAgeSeconds: ['partner_token_age_seconds', 'Age of the partner token in use.'],
  quotaUsed: ['partner_quota_used', 'Calls made since the daily quota began.'],
  quotaRemaining: ['partner_quota_remaining', 'Calls left of the daily quota.'],
  sockets: ['gateway_sockets', 'Open WebSockets.'],
  subscriptions: ['gateway_subscriptions', 'Running subscriptions.'],
  auditSpooled: ['gateway_audit_lines_spooled', 'Audit lines on disk that nobody has taken yet.'],
  auditLost: ['gateway_audit_lines_lost', 'Audit lines for which there was no room, so far.'],
  linesDropped: ['gateway_log_lines_dropped', 'Other lines that nobody took, so far.'],
} as const;

const MAX_OPERATION_NAMES = 200;
const MAX_ROUTES = 100;
const MAX_CODES = 50;

/** Process metrics are among them, the delay of the event loop too (`nodejs_eventloop_lag_*`). */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });

  // Added up here and handed over when somebody reads: several are counted with every request.
  const counter = (name: string, help: string) => {
    let total = 0;
    const collect = function (this: Counter) {
      this.reset();
      this.inc(total);
    };
    registry.registerMetric(new Counter({ name, help, registers: [], collect }));
    return (count = 1) => void (total += count);
  };

  const operations = createHistogram(
    'gateway_operation_seconds',
    'Operations, by name and outcome.',
    ['name', 'outcome'],
  );
  const calls = createHistogram(
    'partner_call_seconds',
    'Calls to the Partner API, by route and status.',
    ['route', 'status'],
  );
  const refused = new Counter({
    name: 'webhooks_refused_total',
    help: 'Webhooks that were not taken, by reason.',
    labelNames: ['reason'],
    registers: [registry],
  });
  const names = boundedLabel(MAX_OPERATION_NAMES);
  const outcomes = boundedLabel(MAX_CODES);
  const routes = boundedLabel(MAX_ROUTES);
  const statuses = boundedLabel(MAX_CODES);

  return {
    operation: (name, outcome, durationMs) =>
      operations.observe(
        names(operationName(name)),
        outcomes(plainText(outcome)),
        durationMs / 1_000,
      ),
    upstreamCall: (route, status, durationMs) =>
      calls.observe(
        routes(plainText(route)),
        statuses(plainText(String(status))),
        durationMs / 1_000,
      ),
    cacheHit: counter('partner_cache_hits_total', 'Reads answered from the cache.'),
    coalesced: counter('partner_coalesced_total', 'Reads that shared a call under way.'),
    retried: counter('partner_retries_total', 'Further attempts of calls.'),
    eventsAccepted: counter('events_accepted_total', 'Events appended to the log.'),
    eventCopies: counter('events_copies_total', 'Events that were there already.'),
    eventsQuarantined: counter('events_quarantined_total', 'Signed events not understood.'),
    eventsPoisonous: counter('events_poisonous_total', 'Events that could not be handled.'),
    eventsDelivered: counter('events_delivered_total', 'Events sent to subscribers.'),
    webhookRefused: (reason) => refused.inc({ reason }),
    slowConsumerClosed: counter('gateway_slow_consumers_total', 'Sockets closed for lagging.'),
    watch: (gauge, read) => {
      const [name, help] = GAUGES[gauge];
      registry.removeSingleMetric(name);
      const collect = function (this: Gauge) {
        const value = read();
        if (value === undefined) this.remove();
        else this.set(value);
      };
      registry.registerMetric(new Gauge({ name, help, registers: [], collect }));
    },
    contentType: registry.contentType,
    text: async () => `${await registry.metrics()}\n${operations.text()}${calls.text()}`,
  };
}
