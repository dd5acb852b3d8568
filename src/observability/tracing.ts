import { SpanKind, SpanStatusCode, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';

/** A proxy for the SDK's tracer, which may be registered after this file is loaded. */
const tracer = trace.getTracer('partner-graph');
const FAILED = { code: SpanStatusCode.ERROR };

/**
 * Spans through the OpenTelemetry API, recorded by an SDK that is loaded before the server (`node --import ./otel.js
 * src/server.ts`). Without one nothing is recorded or sent upstream. Names are operation names and route templates; no
 * span has a value.
 */
export function traceOperation(kind: string, name: string) {
  const span = tracer.startSpan(`${kind} ${name}`, { kind: SpanKind.SERVER });
  if (!span.isRecording()) return undefined;
  span.setAttribute('graphql.operation.type', kind);
  const carrier: Record<string, string> = {};
  propagation.inject(trace.setSpan(ROOT_CONTEXT, span), carrier);
  return {
    /** For the operation's calls: name, value, name, value. Others that a propagator may add are not sent upstream. */
    headers: ['traceparent', 'tracestate'].flatMap((header) =>
      carrier[header] ? [header, carrier[header]] : [],
    ),
    end(outcome: string, calls: number): void {
      span.setAttributes({ outcome, 'upstream.calls': calls });
      if (outcome !== 'ok') span.setStatus(FAILED);
      span.end();
    },
  };
}

export interface TracedCall {
  readonly method: string;
  readonly route: string;
  readonly status: number | undefined;
  readonly outcome: string;
  readonly durationMs: number;
  /** Name, value, name, value; empty where the operation is not traced. */
  readonly traceHeaders: readonly string[];
}

/** Records a finished call as a child of the operation that it counted for. */
export function traceCall(call: TracedCall): void {
  const [, traceparent] = call.traceHeaders;
  if (traceparent === undefined) return;
  const endedAt = Date.now();
  const parent = propagation.extract(ROOT_CONTEXT, { traceparent });
  const options = { kind: SpanKind.CLIENT, startTime: endedAt - call.durationMs };
  const span = tracer.startSpan(`${call.method} ${call.route}`, options, parent);
  span.setAttributes({ 'http.route': call.route, outcome: call.outcome });
  if (call.status !== undefined) span.setAttribute('http.response.status_code', call.status);
  if (call.outcome !== 'ok') span.setStatus(FAILED);
  span.end(endedAt);
}
