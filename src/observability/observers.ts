import { ROOT_CONTEXT, SpanKind, SpanStatusCode, propagation, trace } from '@opentelemetry/api';
import { LRUCache } from 'lru-cache';

import { upTo } from '../cache-limit.ts';
import type { Log, LogFields } from './log.ts';
import type { Metrics } from './metrics.ts';

/**
 * A proxy for the tracer of an OpenTelemetry SDK, which is loaded by `node --import ./otel.js src/server.ts`. Without one
 * nothing is recorded or sent upstream. Names are operation names and route templates; no span has a value.
 */
export const tracer = trace.getTracer('partner-graph');
export const FAILED = { code: SpanStatusCode.ERROR };

type Finished = LogFields & Readonly<{ name: string; durationMs: number; outcome: string }>;
type Counts = Readonly<Record<'calls' | 'cached' | 'coalesced' | 'retried', number>>;

/** One log line and some metrics for each operation, without values. */
export function createOperationObserver(log: Log, metrics: Metrics) {
  function count({ name, outcome, durationMs }: Finished, usage: Counts): void {
    metrics.operation(name, outcome, durationMs);
    if (usage.cached > 0) metrics.cacheHit(usage.cached);
    if (usage.coalesced > 0) metrics.coalesced(usage.coalesced);
    if (usage.retried > 0) metrics.retried(usage.retried);
  }

  return {
    finished(operation: Finished, usage: Counts): void {
      log.info('operation', { ...operation, calls: usage.calls, cached: usage.cached });
      count(operation, usage);
    },
    /** For an operation whose cached answer is sent to many requests. */
    prepareRepeated(operation: Finished, usage: Counts) {
      const write = log.prepareInfo('operation', { ...operation, ...usage });
      return (requestId: string): void => {
        write(requestId);
        count(operation, usage);
      };
    },
    /** An operation that was not executed. The status is HTTP's, and the reason is why a token was not accepted. */
    rejected(code: string, fields: LogFields): void {
      log.info('operation rejected', { code, ...fields });
      metrics.operation('anonymous', code, 0);
    },
  };
}

/** Writes a line once per `ttl` for each message, code, route and origin, and at most `max` lines in that time. */
export function createLimitedLog(log: Log, ttl: number, max = 1_000) {
  const written = new LRUCache<string, true>({ ...upTo(max), ttl, ttlAutopurge: true });
  return (level: 'warn' | 'error', message: string, fields: LogFields = {}): void => {
    const key = `${message} ${fields.code} ${fields.route} ${fields.origin}`;
    if (written.has(key) || written.size >= max) return;
    written.set(key, true);
    log[level](message, fields);
  };
}

/** Metrics and spans of calls to the Partner API, and log lines that an operator should look at. */
export function createPartnerObserver(log: Log, metrics: Metrics) {
  const write = createLimitedLog(log, 10_000);
  return {
    /** Other codes are about the request or the end of its operation. The reason names the route and no value. */
    failed(call: LogFields & Readonly<{ code: string; route: string }>): void {
      if (/^(UPSTREAM|OUTCOME)_/.test(call.code))
        write('warn', 'a call to the Partner API failed', call);
    },
    /** The span of a finished call is a child of the operation that it counted for. */
    attempt({ method, route, status, outcome, durationMs, traceHeaders }: Attempt): void {
      metrics.upstreamCall(method, route, status ?? outcome, durationMs);
      const [, traceparent] = traceHeaders;
      if (traceparent === undefined) return;
      const endedAt = Date.now();
      const parent = propagation.extract(ROOT_CONTEXT, { traceparent });
      const options = { kind: SpanKind.CLIENT, startTime: endedAt - durationMs };
      const span = tracer.startSpan(`${method} ${route}`, options, parent);
      span.setAttributes({ 'http.route': route, outcome });
      if (status !== undefined) span.setAttribute('http.response.status_code', status);
      if (outcome !== 'ok') span.setStatus(FAILED);
      span.end(endedAt);
    },
    otherRecord(route: string, requestId?: string): void {
      metrics.otherRecord();
      const message = 'an answer was about another record than the requested one';
      write('warn', message, { route, requestId });
    },
    unknownStatus: () => metrics.unknownStatus(),
    unreadableRows: (route: string, count: number, requestId?: string) =>
      write('warn', 'rows without a usable id were left out', { route, count, requestId }),
    breakerChanged: (state: string, { method, template }: { method: string; template: string }) =>
      log.warn(`the circuit to the Partner API is ${state}`, { route: `${method} ${template}` }),
    tokenRenewalFailed: (code: string) =>
      log.warn('the partner token could not be renewed', { code }),
  };
}

/** `traceHeaders`: name, value, name, value; empty where the operation is not traced. */
type Attempt = Readonly<Record<'method' | 'route' | 'outcome', string>> &
  Readonly<{ status?: number | undefined; durationMs: number; traceHeaders: readonly string[] }>;
