import { ROOT_CONTEXT, SpanKind, propagation, trace } from '@opentelemetry/api';
import type { ExecutionResult } from 'graphql';

import { FAILED, tracer } from '../../observability/observers.ts';
import type { ExecutionContext, GatewayPlugin } from '../gateway.ts';

/** Records an operation as a span, with its calls to the Partner API as children (`onExecute`). */
export const useTracing = (): GatewayPlugin => ({
  onExecute({ context }) {
    const { operation, resolverContext } = context as ExecutionContext;
    const { kind, name } = operation;
    const { usage } = resolverContext;
    const span = tracer.startSpan(`${kind} ${name}`, { kind: SpanKind.SERVER });
    if (!span.isRecording()) return undefined;
    span.setAttribute('graphql.operation.type', kind);
    const carrier: Record<string, string> = {};
    propagation.inject(trace.setSpan(ROOT_CONTEXT, span), carrier);
    // Others that a propagator may add are not sent upstream.
    usage.traceHeaders = ['traceparent', 'tracestate'].flatMap((header) =>
      carrier[header] ? [header, carrier[header]] : [],
    );
    return {
      onExecuteDone({ result }) {
        const { errors } = result as ExecutionResult;
        const outcome = (errors?.[0]?.extensions['code'] ?? 'ok') as string;
        span.setAttributes({ outcome, 'upstream.calls': usage.calls });
        if (outcome !== 'ok') span.setStatus(FAILED);
        span.end();
      },
    };
  },
});
