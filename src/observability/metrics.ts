import { LRUCache } from 'lru-cache';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import { plainText } from './log.ts';

const REFUSALS = ['size', 'signature', 'encoding', 'malformed', 'unavailable'] as const;
export type WebhookRefusal = (typeof REFUSALS)[number];
export type Metrics = ReturnType<typeof createMetrics>;

/** Read when the metrics are scraped. A metric whose value is undefined is left out. */
const WATCHED = [
  ['queued', Gauge, 'partner_queue_depth', 'Calls that wait for a free slot.'],
  ['inFlight', Gauge, 'partner_calls_in_flight', 'Calls under way.'],
  ['tokenAgeSeconds', Gauge, 'partner_token_age_seconds', 'Age of the partner token in use.'],
  ['callsToday', Gauge, 'partner_quota_used', 'Calls made since the daily quota began.'],
  ['quotaRemaining', Gauge, 'partner_quota_remaining', 'Calls left of the daily quota.'],
  ['sockets', Gauge, 'gateway_sockets', 'Open WebSockets.'],
  ['subscriptions', Gauge, 'gateway_subscriptions', 'Running subscriptions.'],
  ['spooled', Gauge, 'gateway_audit_lines_spooled', 'Audit lines on disk, not written yet.'],
  ['lost', Counter, 'gateway_audit_lines_lost_total', 'Audit lines lost without space on disk.'],
  ['dropped', Counter, 'gateway_log_lines_dropped_total', 'Lines dropped: stdout was blocked.'],
] as const;
type Watched = Partial<Readonly<Record<(typeof WATCHED)[number][0], number | undefined>>>;

// In seconds, from a cached answer to the longest call or operation.
const BUCKETS = [0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];
const MAX_OPERATION_NAMES = 200;

/** Collected once per process: prom-client's observers never end, and keep their registry in memory. */
const processRegistry = new Registry();
collectDefaultMetrics({ register: processRegistry });
// Gauges that are named like counters.
for (const kind of ['handles', 'requests', 'resources'])
  processRegistry.removeSingleMetric(`nodejs_active_${kind}_total`);

/** Includes process metrics and the event loop's delay (`nodejs_eventloop_lag_*`). */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];

  const counter = (name: string, help: string) => {
    const metric = new Counter({ name, help, registers });
    return (count = 1) => metric.inc(count);
  };

  const histogram = (name: string, timed: string, labelNames: readonly string[]) => {
    const help = `${timed}, by ${labelNames.join(', ')}.`;
    return new Histogram({ name, help, labelNames, buckets: BUCKETS, registers });
  };
  const operations = histogram('gateway_operation_seconds', 'Operations', ['name', 'outcome']);
  const callLabels = ['method', 'route', 'status'];
  const calls = histogram('partner_call_seconds', 'Calls to the Partner API', callLabels);

  /** The outcomes of each operation name. A name that was not used for an hour is removed. */
  const outcomesByName = new LRUCache<string, Set<string>>({
    max: MAX_OPERATION_NAMES,
    ttl: 3_600_000,
    ttlResolution: 0,
    dispose: (outcomes, name) => {
      for (const outcome of outcomes) operations.remove(name, outcome);
    },
  });
  /** A frontend may send a new name with every request: past the limit, new ones are `other`. */
  function labelOf(name: string, outcome: string): string {
    // Stale or not: a series that began again at 1 in the moment of its use would never show an increase.
    const known = outcomesByName.peek(name, { allowStale: true });
    if (!known && outcomesByName.size >= MAX_OPERATION_NAMES) outcomesByName.purgeStale();
    if (!known && outcomesByName.size >= MAX_OPERATION_NAMES) return 'other';
    outcomesByName.set(name, (known ?? new Set()).add(outcome));
    return name;
  }

  const refused = new Counter({
    name: 'webhooks_refused_total',
    help: 'Webhooks that were not accepted, by reason.',
    labelNames: ['reason'],
    registers,
  });
  // Alerts on an increase miss the first one of a series that did not exist before.
  for (const reason of REFUSALS) refused.inc({ reason }, 0);

  return {
    operation: (name: string, outcome: string, durationMs: number) =>
      operations.observe({ name: labelOf(name, outcome), outcome }, durationMs / 1_000),
    /** `status` is the HTTP status, or a code if there was no response. `route` is the template. */
    upstreamCall: (method: string, route: string, status: number | string, durationMs: number) =>
      calls.observe({ method, route: plainText(route), status }, durationMs / 1_000),
    cacheHit: counter('partner_cache_hits_total', 'Reads answered from the cache.'),
    coalesced: counter('partner_coalesced_total', 'Reads that shared a call under way.'),
    otherRecord: counter('partner_other_record_total', 'Answers about another record.'),
    unknownStatus: counter('partner_unknown_status_total', 'Clients of an unknown status.'),
    retried: counter('partner_retries_total', 'Further attempts of calls.'),
    eventsAccepted: counter('events_accepted_total', 'Events appended to the log.'),
    eventCopies: counter('events_copies_total', 'Duplicate events.'),
    eventsWithoutTime: counter('events_without_time_total', 'Events without a credible time.'),
    eventsQuarantined: counter('events_quarantined_total', 'Signed events not understood.'),
    eventsFailed: counter('events_failed_total', 'Events that could not be handled.'),
    eventsLeftOut: counter('events_left_out_total', 'Events whose access was never decided.'),
    eventsDelivered: counter('events_delivered_total', 'Events sent to subscribers.'),
    webhookRefused: (reason: WebhookRefusal) => refused.inc({ reason }),
    slowConsumerClosed: counter('gateway_slow_consumers_total', 'Sockets closed for lagging.'),
    /** Adds those metrics whose names `read` returns. */
    watch(read: () => Watched): void {
      for (const [key, Metric, name, help] of WATCHED.filter(([each]) => each in read())) {
        const collect = function (this: Gauge | Counter) {
          const value = read()[key];
          this.remove();
          if (value !== undefined) this.inc(value);
        };
        registry.registerMetric(new Metric({ name, help, registers: [], collect }));
      }
    },
    contentType: registry.contentType,
    text: async () => `${await processRegistry.metrics()}\n${await registry.metrics()}`,
  };
}
