import { isAsyncIterable } from 'graphql-yoga';

import { traceOperation } from '../../observability/tracing.ts';
import type { ExecutionContext, GatewayContext, GatewayPlugin } from '../yoga.ts';

/** Records an operation as a span, with its calls to the Partner API as children (`onExecute`). */
export function useTracing(): GatewayPlugin {
  return {
    onExecute({ args }) {
      const context = args.contextValue as GatewayContext;
      const { kind, name } = context.operation!;
      const trace = traceOperation(kind, name);
      if (!trace) return undefined;
      context.traceHeaders = trace.headers;
      return {
        onExecuteDone({ args: { contextValue }, result }) {
          if (isAsyncIterable(result)) return;
          const { calls } = (contextValue as ExecutionContext).resolverContext.usage;
          trace.end(String(result.errors?.[0]?.extensions['code'] ?? 'ok'), calls);
        },
      };
    },
  };
}
