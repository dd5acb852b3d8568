import { ROOT_CONTEXT, SpanKind, propagation, trace } from '@opentelemetry/api';
import { isAsyncIterable } from 'graphql-yoga';

import { FAILED, tracer } from '../../observability/observers.ts';
import type { ExecutionContext, GatewayContext, GatewayPlugin } from '../yoga.ts';

/** Records an operation as a span, with its calls to the Partner API as children (`onExecute`). */
export const useTracing = (): GatewayPlugin => ({
  onExecute({ args }) {
    const context = args.contextValue as GatewayContext;
    const { kind, name } = context.operation!;
    const span = tracer.startSpan(`${kind} ${name}`, { kind: SpanKind.SERVER });
    if (!span.isRecording()) return undefined;
    span.setAttribute('graphql.operation.type', kind);
    const carrier: Record<string, string> = {};
    propagation.inject(trace.setSpan(ROOT_CONTEXT, span), carrier);
    // Others that a propagator may add are not sent upstream.
    context.traceHeaders = ['traceparent', 'tracestate'].flatMap((header) =>
      carrier[header] ? [header, carrier[header]] : [],
    );
    return {
      onExecuteDone({ args: { contextValue }, result }) {
        if (isAsyncIterable(result)) return;
        const { calls } = (contextValue as ExecutionContext).resolverContext.usage;
        const outcome = String(result.errors?.[0]?.extensions['code'] ?? 'ok');
        span.setAttributes({ outcome, 'upstream.calls': calls });
        if (outcome !== 'ok') span.setStatus(FAILED);
        span.end();
      },
    };
  },
});
