import { type Services, createContext } from '../../context.ts';
import { traceOperation } from '../../observability/tracing.ts';
import { createUsage } from '../../rest/usage.ts';
import type { GatewayContext } from '../context.ts';
import type { GatewayPlugin } from '../yoga.ts';

export interface OperationContextOptions {
  readonly services: Services;
  readonly maxUpstreamCalls: number;
  readonly operationMs: number;
}

/**
 * Gives each operation the context that resolvers work with, loaders and all (`onExecute`). When its time is over, or
 * its client has gone, its reads are given up; a write that was sent is not.
 */
export function useOperationContext(options: OperationContextOptions): GatewayPlugin {
  const { services, maxUpstreamCalls, operationMs } = options;
  return {
    onExecute({ args, extendContext }) {
      const { requester, transport, operation, res } =
        args.contextValue as Required<GatewayContext>;
      const { kind, name, requestId } = operation!;
      const trace = traceOperation(kind, name);
      const usage = createUsage({
        maxCalls: maxUpstreamCalls,
        priority: kind === 'mutation' ? 'write' : 'read',
        traceHeaders: trace.headers,
        requestId,
      });
      extendContext(createContext(services, requester, usage, transport, operation!, trace));
      const giveUp = () => usage.end();
      const timer = setTimeout(giveUp, operationMs);
      res?.once('close', giveUp);
      return {
        onExecuteDone() {
          clearTimeout(timer);
          res?.off('close', giveUp);
        },
      };
    },
  };
}
